//! Turns of tests that would disturb each other. Everything here is one program, so locks of one process are enough.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static PAGE_CACHE: RwLock<()> = RwLock::new(());
static SPINNING_PAIR: Mutex<()> = Mutex::new(());

/// Held by a test whose laws need that pages it has read stay in the page cache. Taken once a test: a second time it could
/// wait for itself.
pub fn with_page_cache() -> RwLockReadGuard<'static, ()> {
    PAGE_CACHE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that drops everybody's page cache.
pub fn without_page_cache() -> RwLockWriteGuard<'static, ()> {
    PAGE_CACHE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test in which two sides use a CPU each until they are stopped: a second such pair would take most of its time.
pub fn spinning_pair() -> MutexGuard<'static, ()> {
    SPINNING_PAIR.lock().unwrap_or_else(PoisonError::into_inner)
}
