//! Groupings: by what entries are grouped, and the keys of groups.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::base::named::named;

named! {
    /// A property by which entries are grouped, in the order of the screen.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Grouping {
        /// The working directory of the session.
        Project = "project",
        /// The model.
        Model = "model",
        /// The tool: of an answer, that of its first call.
        Tool = "tool",
        /// The day of the entry.
        Day = "day",
        /// The week of the entry, by its first day.
        Week = "week",
        /// The month of the entry.
        Month = "month",
        /// The prompt to which the entry belongs.
        Prompt = "prompt",
        /// The session in which the entry was made.
        Session = "session",
        /// The oldest ancestor of the session.
        Family = "family",
        /// The branch, by its leaf.
        Branch = "branch",
        /// The first commit after the entry, on a path from it.
        Commit = "commit",
        /// The provider of the model.
        Provider = "provider",
        /// The hour of the day, from 00 to 23.
        Hour = "hour",
        /// The tags of the session, together.
        Tag = "tag",
        /// The machine of the session.
        Machine = "machine",
    }
}

/// The part of the statistics that determines the group of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupingScope {
    /// Its time.
    Time,
    /// Its model.
    Model,
    /// Its session.
    Session,
    /// The entry itself, or its path.
    Entry,
}

impl Grouping {
    /// Returns what determines the group of an entry.
    pub fn scope(self) -> GroupingScope {
        match self {
            Self::Day | Self::Week | Self::Month | Self::Hour => GroupingScope::Time,
            Self::Model | Self::Provider => GroupingScope::Model,
            Self::Project | Self::Machine | Self::Tag | Self::Family | Self::Session => GroupingScope::Session,
            Self::Branch | Self::Commit | Self::Tool | Self::Prompt => GroupingScope::Entry,
        }
    }

    /// Returns the qualifier that finds the sessions of a group, by the text of its key.
    pub fn qualifier(self) -> Option<&'static str> {
        match self {
            Self::Project => Some("in"),
            Self::Machine => Some("on"),
            Self::Model => Some("model"),
            Self::Provider => Some("provider"),
            Self::Tool => Some("tool"),
            Self::Tag => Some("tag"),
            Self::Day | Self::Week | Self::Month => Some("active"),
            Self::Hour | Self::Prompt | Self::Session | Self::Family | Self::Branch | Self::Commit => None,
        }
    }

    /// Returns `true` if the groups have an order in time.
    pub fn is_time(self) -> bool {
        self.scope() == GroupingScope::Time
    }

    /// Returns `true` if the keys are paths.
    pub fn is_path(self) -> bool {
        self == Self::Project
    }

    /// Returns `true` if the groups depend on the worktrees of repositories.
    pub fn needs_worktrees(self) -> bool {
        self == Self::Project
    }

    /// Returns `true` if the groups depend on the marks of users.
    pub fn needs_marks(self) -> bool {
        self == Self::Tag
    }
}

/// The calendar: a time zone, and the first day of a week.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// The time zone.
    pub zone: TimeZone,
    /// The first day of a week.
    pub week_start: Weekday,
}

impl Calendar {
    /// Returns the key of the time group of a time in milliseconds since 1970, or `None` for other groupings, and for
    /// times out of range.
    pub fn key(&self, grouping: Grouping, time: i64) -> Option<String> {
        let time = Timestamp::from_millisecond(time).ok()?.to_zoned_datetime(self.zone.clone());
        let date = time.date();
        Some(match grouping {
            Grouping::Day => date.to_string(),
            Grouping::Week => self.week_of(date)?.to_string(),
            Grouping::Month => format!("{:04}-{:02}", date.year(), date.month()),
            Grouping::Hour => format!("{:02}", time.hour()),
            _ => return None,
        })
    }

    /// Returns the first day of the week of a day.
    pub(crate) fn week_of(&self, day: Date) -> Option<Date> {
        let since = day.weekday().since(self.week_start);
        day.checked_sub(i64::from(since).days()).ok()
    }

    /// Returns the first millisecond of the month of a time, both since 1970.
    pub fn month_start(&self, time: i64) -> Option<i64> {
        let time = Timestamp::from_millisecond(time).ok()?.to_zoned_datetime(self.zone.clone());
        let first = time.date().first_of_month().to_zoned_datetime(self.zone.clone()).ok()?;
        Some(first.timestamp().as_millisecond())
    }
}

/// The interval in which all times have the same keys, in milliseconds. Time zones differ by multiples of it since 1973.
pub const SAME_KEYS: i64 = 15 * 60_000;
