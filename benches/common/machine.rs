//! The machine that the numbers are of, in words. Uses nothing of the crate.

use std::fs::read_to_string;
use std::process::Command;

/// CPU, caches, huge pages, load and compiler: a Markdown list.
pub(crate) fn describe() -> String {
    let mut text = String::new();
    let mut item = |what: &str, is: &str| text += &format!("* {what}: {is}\n");
    item("CPU", &cpu());
    item("caches", &caches());
    item("huge pages", &first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
    item(
        "system",
        &format!("{} {}", std::env::consts::OS, first_line("/proc/sys/kernel/osrelease")),
    );
    item("compiler", &compiler());
    item("load average at the start", &load());
    text
}

/// The load average: above 1 or so, other work disturbs the run.
pub(crate) fn load() -> String {
    first_line("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" ")
}

fn cpu() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().map(str::trim) == Some(name));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_string())
    };
    let name = field("model name").unwrap_or_else(|| "unknown".into());
    let numbers = match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => {
            // Virtual machines do not say which EPYC it is.
            let core = match (family.as_str(), model.parse().unwrap_or(0)) {
                ("25", 16..=31) if name.contains("EPYC") => "Zen 4; ",
                ("26", _) if name.contains("EPYC") => "Zen 5; ",
                _ => "",
            };
            format!(" ({core}family {family}, model {model})")
        }
        _ => String::new(),
    };
    format!("{name}{numbers}, {}, {threads} threads", std::env::consts::ARCH)
}

fn caches() -> String {
    let mut caches = Vec::new();
    for index in 0..8 {
        let of = |field: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{field}");
            read_to_string(path).map(|text| text.trim().to_string()).ok()
        };
        if let (Some(level), Some(kind), Some(size)) = (of("level"), of("type"), of("size"))
            && kind != "Instruction"
        {
            caches.push(format!("L{level} {size}"));
        }
    }
    if caches.is_empty() { "unknown".into() } else { caches.join(", ") }
}

fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    version.map_or("unknown".into(), |out| String::from_utf8_lossy(&out.stdout).trim().into())
}

fn first_line(path: &str) -> String {
    let text = read_to_string(path).unwrap_or_else(|_| "unknown".into());
    text.lines().next().unwrap_or("unknown").to_string()
}
