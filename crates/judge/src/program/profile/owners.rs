//! Runtimes and allocators that take memory from the kernel for a program, by the files of their code.

use record::command::{CallFrame, CallStacks, EventFamily, MemoryEvent, SuggestionKind};

/// A runtime or an allocator that takes memory from the kernel for a program, and what to change of its work.
pub(super) struct MemoryOwner {
    /// Beginnings of its files' names.
    modules: &'static [&'static str],
    /// Change where it gives memory back and takes it again.
    pub given_back: Option<SuggestionKind>,
    /// Change where its memory is fresh.
    pub fresh: Option<SuggestionKind>,
    /// True if its code touches the memory first, so that it is on the stacks of page faults; other programs only load it.
    touches: bool,
}

/// Owners of memory by precedence: the first that is met and has a change decides.
pub(super) const OWNERS: [MemoryOwner; 8] = [
    MemoryOwner::allocator(&["libjemalloc"], SuggestionKind::JemallocReturn),
    MemoryOwner::allocator(&["libmimalloc"], SuggestionKind::MimallocReturn),
    MemoryOwner::allocator(
        &["libtcmalloc", "libtcmalloc_minimal"],
        SuggestionKind::TcmallocReturn,
    ),
    MemoryOwner {
        given_back: Some(SuggestionKind::GoReturn),
        ..MemoryOwner::runtime(&["[go]"], SuggestionKind::GoHeap)
    },
    MemoryOwner::runtime(&["libjvm"], SuggestionKind::JavaHeap),
    MemoryOwner {
        touches: true,
        ..MemoryOwner::runtime(&["_multiarray_umath"], SuggestionKind::NumpyArrays)
    },
    MemoryOwner::runtime(&["python", "libpython"], SuggestionKind::PythonObjects),
    MemoryOwner::runtime(&["node", "libnode"], SuggestionKind::NodeHeap),
];

impl MemoryOwner {
    const fn allocator(modules: &'static [&'static str], change: SuggestionKind) -> MemoryOwner {
        MemoryOwner {
            modules,
            given_back: Some(change),
            fresh: None,
            touches: false,
        }
    }

    const fn runtime(modules: &'static [&'static str], change: SuggestionKind) -> MemoryOwner {
        MemoryOwner {
            modules,
            given_back: None,
            fresh: Some(change),
            touches: false,
        }
    }

    /// True if one of its files was mapped, and it is on most stacks of page faults if it would be.
    pub fn is_met(&self, modules: &[String], page_faults: Option<&CallStacks>) -> bool {
        let is_mapped = modules.iter().any(|module| self.has(module));
        let is_on_stacks = |stacks: &CallStacks| {
            let (mut with, mut all) = (0.0, 0.0);
            let is_fault = |event: MemoryEvent| event.family() == EventFamily::Faults;
            for stack in stacks.stacks.iter().filter(|stack| is_fault(stack.event)) {
                let mut frames = stack.frames.iter().filter_map(|&at| stacks.frames.get(at));
                let is_its = frames.any(|frame: &CallFrame| self.has(&frame.module));
                with += if is_its { stack.weight } else { 0.0 };
                all += stack.weight;
            }
            2.0 * with >= all
        };
        is_mapped && (!self.touches || page_faults.is_none_or(is_on_stacks))
    }

    /// True for a file of its own. A letter or a hyphen behind the beginning makes it another word.
    fn has(&self, module: &str) -> bool {
        let mut starts = self.modules.iter();
        starts.any(|start| {
            let rest = module.strip_prefix(start);
            rest.is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_alphabetic() || "-_".contains(c))
            })
        })
    }
}
