//! The options of the `loadmodule` line.

use crate::bloom::Layout;
use crate::parse;
use std::sync::OnceLock;

/// The options, with RedisBloom's names and defaults where it has them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) bf_error_rate: f64,
    pub(crate) bf_initial_size: u64,
    /// 0: keys do not grow.
    pub(crate) bf_expansion_factor: u32,
    /// Of which a new key takes the first that needs about RedisBloom's memory, or the last.
    pub(crate) bf_layouts: &'static [Layout],
    pub(crate) cf_bucket_size: u64,
    pub(crate) cf_initial_size: u64,
    pub(crate) cf_max_iterations: u64,
    pub(crate) cf_expansion_factor: u64,
    pub(crate) cf_max_expansions: u64,
    /// Whether BF.* and CF.* are registered.
    pub(crate) compat: bool,
    /// The seed of new filters; None: a random one for each.
    pub(crate) seed: Option<u64>,
    /// The most bytes of a key; 0: no limit.
    pub(crate) max_filter_bytes: u64,
    pub(crate) huge_pages: bool,
}

static CONFIG: OnceLock<Config> = OnceLock::new();

/// The options; the defaults before the module is loaded.
pub(crate) fn config() -> &'static Config {
    CONFIG.get_or_init(Config::default)
}

/// Sets the options, once.
pub(crate) fn set(config: Config) {
    let _ = CONFIG.set(config);
}

impl Default for Config {
    fn default() -> Config {
        Config {
            bf_error_rate: 0.01,
            bf_initial_size: 100,
            bf_expansion_factor: 2,
            bf_layouts: &Layout::ALL,
            cf_bucket_size: 2,
            cf_initial_size: 1024,
            cf_max_iterations: 20,
            cf_expansion_factor: 1,
            cf_max_expansions: 32,
            compat: true,
            seed: None,
            max_filter_bytes: 8 << 30,
            huge_pages: false,
        }
    }
}

impl Config {
    /// Reads `name value` pairs.
    ///
    /// # Errors
    /// What is wrong, for the log.
    pub(crate) fn read<'a>(args: impl Iterator<Item = &'a [u8]>) -> Result<Config, String> {
        let (mut config, mut args) = (Config::default(), args);
        while let Some(name) = args.next() {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase().replace('_', "-");
            let value = args.next().ok_or_else(|| format!("option {name} has no value"))?;
            let wrong = || {
                let value = String::from_utf8_lossy(value);
                format!("option {name} does not take the value {value}, or there is no such option")
            };
            config.set(&name, value).ok_or_else(wrong)?;
        }
        let (size, least) = (config.cf_initial_size, 2 * config.cf_bucket_size);
        if size < least {
            return Err(format!("cf-initial-size {size} is below 2 * cf-bucket-size, {least}"));
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &[u8]) -> Option<()> {
        let within = |least, most| parse::within(value, least, most);
        match name {
            "bf-error-rate" | "error-rate" => {
                let rate = parse::real(value).filter(|&rate| rate > 0.0 && rate < 1.0)?;
                self.bf_error_rate = rate.min(crate::bloom::MAX_RATE);
            }
            "bf-initial-size" | "initial-size" => self.bf_initial_size = within(1, 1 << 30)?,
            "bf-expansion-factor" => self.bf_expansion_factor = within(0, 32_768)? as u32,
            "bf-layout" => self.bf_layouts = layouts(value)?,
            "cf-bucket-size" => self.cf_bucket_size = within(1, 255)?,
            "cf-initial-size" => self.cf_initial_size = within(4, 1 << 30)?,
            "cf-max-iterations" => self.cf_max_iterations = within(1, 65_535)?,
            "cf-expansion-factor" => self.cf_expansion_factor = within(0, 32_768)?,
            "cf-max-expansions" => self.cf_max_expansions = within(1, 65_536)?,
            "compat" => self.compat = yes_or_no(value)?,
            "seed" if value.eq_ignore_ascii_case(b"random") => self.seed = None,
            "seed" => self.seed = Some(parse::unsigned(value)?),
            "max-filter-bytes" => self.max_filter_bytes = within(0, i64::MAX as u64)?,
            "huge-pages" => self.huge_pages = yes_or_no(value)?,
            _ => return None,
        }
        Some(())
    }
}

fn layouts(value: &[u8]) -> Option<&'static [Layout]> {
    match value.to_ascii_lowercase().as_slice() {
        b"auto" => Some(&Layout::ALL),
        b"lines" => Some(&[Layout::Lines]),
        b"classic" => Some(&[Layout::Classic, Layout::Twice]),
        _ => None,
    }
}

fn yes_or_no(value: &[u8]) -> Option<bool> {
    match value.to_ascii_lowercase().as_slice() {
        b"yes" => Some(true),
        b"no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Config, String> {
        Config::read(args.iter().map(|arg| arg.as_bytes()))
    }

    #[test]
    fn options_have_redisblooms_names_in_both_forms() {
        assert_eq!(read(&[]), Ok(Config::default()));
        let config =
            read(&["ERROR_RATE", "0.001", "bf-initial-size", "5", "CF_MAX_EXPANSIONS", "3"]);
        let config = config.unwrap();
        assert_eq!(config.bf_error_rate, 0.001);
        assert_eq!((config.bf_initial_size, config.cf_max_expansions), (5, 3));
        assert_eq!(read(&["bf-error-rate", "0.9"]).unwrap().bf_error_rate, 0.25);
        assert_eq!(read(&["seed", "7", "compat", "NO"]).unwrap().seed, Some(7));
        assert_eq!(read(&["BF_LAYOUT", "Lines"]).unwrap().bf_layouts, [Layout::Lines]);
    }

    #[test]
    fn cuckoo_filters_by_default_are_such_as_reserve_makes() {
        let both = |size, bucket| read(&["cf-initial-size", size, "cf-bucket-size", bucket]);
        assert!(both("509", "255").unwrap_err().contains("cf-initial-size"));
        assert_eq!(both("510", "255").unwrap().cf_initial_size, 510);
        assert!(
            read(&["cf-initial-size", "4"]).is_ok() && read(&["cf-bucket-size", "255"]).is_ok()
        );
    }

    #[test]
    fn wrong_options_are_named() {
        for args in [
            &["bf-error-rate"][..],
            &["bf-error-rate", "0"],
            &["bf-error-rate", "nan"],
            &["bf-initial-size", "0"],
            &["bf-initial-size", "1073741825"],
            &["cf-bucket-size", "256"],
            &["compat", "maybe"],
            &["bf-layout", "square"],
            &["nothing", "1"],
        ] {
            let error = read(args).unwrap_err();
            assert!(error.contains(args[0]), "{error}");
        }
    }
}
