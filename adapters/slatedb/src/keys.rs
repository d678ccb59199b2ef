//! Which keys of a table go into its filter, and which of them a query asks for: whole keys, and the
//! prefixes that a [`PrefixExtractor`] finds.

use slatedb::{FilterQuery, FilterTarget, PrefixExtractor, PrefixTarget, RowEntry};
use std::fmt;
use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct Keys {
    whole: bool,
    prefixes: Option<Arc<dyn PrefixExtractor>>,
}

impl Keys {
    /// Whole keys only.
    pub(crate) fn whole() -> Keys {
        Keys { whole: true, prefixes: None }
    }

    pub(crate) fn with_prefixes(self, extractor: Arc<dyn PrefixExtractor>) -> Keys {
        Keys { prefixes: Some(extractor), ..self }
    }

    pub(crate) fn with_whole(self, whole: bool) -> Keys {
        Keys { whole, ..self }
    }

    /// The name of a policy whose filters have these keys. It is that of SlateDB's policy behind `of`: if
    /// other keys were in the filter than a query asks for, keys would be lost.
    pub(crate) fn name(&self, of: &str) -> String {
        let prefixes = self.prefixes.as_ref().map(|extractor| format!(":p={}", extractor.name()));
        let whole = if self.whole { "" } else { ":wh=0" };
        format!("{of}{}{whole}", prefixes.unwrap_or_default())
    }

    pub(crate) fn has_prefixes(&self) -> bool {
        self.prefixes.is_some()
    }

    /// The key that is in the filter if anything is that the query asks for. `None` if the filter does
    /// not know.
    #[inline]
    pub(crate) fn asked<'q>(&self, query: &'q FilterQuery) -> Option<&'q [u8]> {
        match &query.target {
            FilterTarget::Point(key) if self.whole => Some(key),
            FilterTarget::Point(bytes) | FilterTarget::Prefix(bytes) => {
                let target = query.target.as_prefix_target()?;
                bytes.get(..self.prefixes.as_ref()?.prefix_len(&target)?)
            }
            FilterTarget::Range { .. } => None,
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name("keys"))
    }
}

/// Says which keys each entry of a table adds.
pub(crate) struct Added {
    keys: Keys,
    last_prefix: Option<Vec<u8>>,
}

impl Added {
    pub(crate) fn new(keys: Keys) -> Added {
        Added { keys, last_prefix: None }
    }

    /// Passes on what the entry adds: its prefix, unless it is that of the entry before, then its key.
    /// `None` if `add` failed or a prefix is longer than its key, which no extractor may say: then
    /// the filter lacks keys.
    #[inline]
    pub(crate) fn of(
        &mut self,
        entry: &RowEntry,
        mut add: impl FnMut(&[u8]) -> Option<()>,
    ) -> Option<()> {
        if let Some(extractor) = &self.keys.prefixes {
            let prefix = extractor.prefix_len(&PrefixTarget::Point(entry.key.clone()));
            if let Some(len) = prefix {
                let prefix = entry.key.get(..len)?;
                if self.last_prefix.as_deref() != Some(prefix) {
                    add(prefix)?;
                    let last = self.last_prefix.get_or_insert_default();
                    last.clear();
                    last.extend_from_slice(prefix);
                }
            }
        }
        if self.keys.whole { add(&entry.key) } else { Some(()) }
    }
}
