//! Launches of a profile's blocks, and windows of a process that ran already.

use record::command::{CommandCost, CommandLaunch, LaunchMode, PricePhase, has_ended};

/// Launches of one block.
pub(super) struct BlockLaunches<'a> {
    launches: &'a [CommandLaunch],
    number: i64,
}

impl<'a> BlockLaunches<'a> {
    pub fn new(launches: &'a [CommandLaunch], number: i64) -> BlockLaunches<'a> {
        BlockLaunches { launches, number }
    }

    fn launch(&self, mode: LaunchMode) -> Option<&'a CommandLaunch> {
        self.launches
            .iter()
            .find(|launch| launch.block == self.number && launch.mode == mode)
    }

    /// A phase of the launch that measured prices.
    pub fn phase(&self, mode: LaunchMode, name: &str) -> Option<PricePhase> {
        self.launch(mode)?.phases.get(name).copied()
    }

    /// The launch of the command by itself; of the first block the one before it, where that found its files in the page cache
    /// and stands for it. The windows of a process that has ended are priced in turn, as often as an interval needs.
    pub fn plain(&self) -> Option<&'a CommandCost> {
        let first = || {
            let mut launches = self.launches.iter().filter(|launch| launch.block < 0);
            // The first window of a process that runs already is a shorter one.
            let is_command = launches.clone().any(|l| l.mode == LaunchMode::Traced);
            launches.find(|launch| self.number == 0 && is_command && launch.stands_for_first())
        };
        let launch = self.launch(LaunchMode::Plain).or_else(first);
        let launch = launch.or_else(|| {
            let ended_windows = if has_ended(self.launches) {
                windows(self.launches).count()
            } else {
                0
            };
            windows(self.launches).nth((self.number as usize).checked_rem(ended_windows)?)
        });
        launch?.cost.as_ref()
    }
}

/// Launches of the command by itself, or windows of a process, without the first.
pub(super) fn windows(launches: &[CommandLaunch]) -> impl Iterator<Item = &CommandLaunch> {
    launches
        .iter()
        .filter(|launch| launch.block >= 0 && launch.mode == LaunchMode::Plain)
}
