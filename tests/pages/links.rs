//! Links lead somewhere, and every page can be reached from the README.

use super::{none, pages, read, root};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// The links of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap())
}

/// What a heading is called in a link: lower case, hyphens for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn anchors(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// The path that a link of a page leads to, without `..`.
fn target(page: &str, file: &str) -> PathBuf {
    if file.is_empty() {
        return page.into();
    }
    let mut path = Path::new(page).parent().unwrap().to_path_buf();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => assert!(path.pop(), "{page}: {file} leads out"),
            part => path.push(part),
        }
    }
    path
}

/// What is wrong with the links of a page of this text.
fn wrong(page: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for link in links(text).filter(|link| !link.contains("://")) {
        let (file, heading) = link.split_once('#').unwrap_or((link, ""));
        let to = target(page, file);
        let other = if file.is_empty() { text.to_string() } else { String::new() };
        let there = file.is_empty() || root().join(&to).exists();
        let other = if there && file.ends_with(".md") { read(&to) } else { other };
        if !there || !(heading.is_empty() || anchors(&other).contains(heading)) {
            wrong.push(format!("{page}: {link}"));
        }
    }
    wrong
}

#[test]
fn links_lead_somewhere() {
    none(
        "these links lead nowhere",
        pages().iter().flat_map(|page| wrong(page, &read(page))).collect(),
    );
}

#[test]
fn dead_links_are_found() {
    for dead in ["a/b.md", "../docs/NONE.md", "DESIGN.md#no-such-heading", "#none"] {
        assert_eq!(wrong("docs/X.md", &format!("# One\n[x]({dead})")).len(), 1, "{dead}");
    }
    for good in ["DESIGN.md#one-line-per-key", "#one-two", "../src/line.rs", "https://a.b/c"] {
        assert_eq!(wrong("docs/X.md", &format!("# One, two\n[x]({good})")).len(), 0, "{good}");
    }
}

#[test]
fn every_page_can_be_reached() {
    let mut reached: HashSet<PathBuf> = HashSet::from(["README.md".into()]);
    let mut left = vec!["README.md".to_string()];
    while let Some(page) = left.pop() {
        for link in links(&read(&page)).filter(|link| !link.contains("://")) {
            let mut to = target(&page, link.split('#').next().unwrap());
            if root().join(&to).is_dir() {
                to.push("README.md");
            }
            let is_page = to.extension().is_some_and(|kind| kind == "md");
            if is_page && root().join(&to).exists() && reached.insert(to.clone()) {
                left.push(to.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    let alone = pages().into_iter().filter(|page| !reached.contains(Path::new(page)));
    none("no page links to these", alone.collect());
}

/// A README is read to its end if it is short.
#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 120, "README.md has {lines} lines");
}
