use std::os::unix::fs::symlink;

use super::*;

/// A directory of one test, removed when the test ends.
struct Bed(PathBuf);

impl Bed {
    fn new(name: &str) -> Self {
        let place =
            std::env::temp_dir().join(format!("pintle-skills-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).expect("a directory");
        Self(place)
    }

    fn with(self, path: &str, content: &[u8]) -> Self {
        let place = self.0.join(path);
        fs::create_dir_all(place.parent().expect("a parent")).expect("a directory");
        fs::write(place, content).expect("a file");
        self
    }

    fn skill(self, path: &str) -> Self {
        self.with(&format!("{path}/SKILL.md"), b"---\n---\n")
    }

    fn read(&self, limits: &SkillLimits) -> Result<Vec<Skill>, SkillError> {
        read(&self.0, limits)
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn found(bed: &Bed) -> Vec<(String, Vec<String>)> {
    let skills = bed.read(&SkillLimits::default()).expect("skills");
    let files = |skill: Skill| (skill.path, skill.files.into_keys().collect());
    skills.into_iter().map(files).collect()
}

fn fault(bed: &Bed, limits: &SkillLimits) -> (String, SkillErrorKind) {
    let error = bed.read(limits).expect_err("cannot be served");
    let place = error
        .place()
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    (place, error.into_fault())
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

// spec: 2026-07-28 X-SKILL-03, X-SKILL-04
#[test]
fn every_directory_with_a_skill_md_is_a_skill_with_all_files_inside() {
    let bed = Bed::new("all")
        .skill("b")
        .with("b/references/x.md", b"x")
        .with("b/.git/config", b"hidden")
        .skill("acme/a")
        .skill("acme/a/inner")
        .with("README.md", b"of no skill");

    let expected = [
        ("acme/a", words(&["SKILL.md", "inner/SKILL.md"])),
        ("acme/a/inner", words(&["SKILL.md"])),
        ("b", words(&["SKILL.md", "references/x.md"])),
    ];
    assert_eq!(
        found(&bed),
        expected.map(|(path, files)| (path.to_owned(), files))
    );
}

#[test]
fn a_directory_may_be_a_skill_itself() {
    let bed = Bed::new("one").with("SKILL.md", b"").with("a.md", b"");
    let name = bed
        .0
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    assert_eq!(
        found(&bed),
        [(name.to_owned(), words(&["SKILL.md", "a.md"]))]
    );
}

// hardening: H-90
#[test]
fn links_and_special_files_are_rejected() {
    for target in ["/etc/passwd", "SKILL.md", "nowhere", "/"] {
        let bed = Bed::new("link").skill("a");
        symlink(target, bed.0.join("a/link")).expect("a link");
        let (place, fault) = fault(&bed, &SkillLimits::default());
        assert!(matches!(fault, SkillErrorKind::Link), "{target}: {fault}");
        assert_eq!(place, "link");
    }
    let bed = Bed::new("socket").skill("a");
    let _socket = std::os::unix::net::UnixListener::bind(bed.0.join("a/s")).expect("a socket");
    assert!(matches!(
        fault(&bed, &SkillLimits::default()),
        (_, SkillErrorKind::NotPlain)
    ));
}

// hardening: H-90
#[test]
fn a_file_whose_kind_changed_is_rejected() {
    let bed = Bed::new("swap").with("a", b"one").with("b", b"two");
    let seen = fs::symlink_metadata(bed.0.join("a")).expect("a file");
    let place = bed.0.join("a");
    assert_eq!(
        read_file(&place, &seen, 9).expect("reads").as_deref(),
        Some(&b"one"[..])
    );
    fs::rename(bed.0.join("b"), &place).expect("renamed");
    assert!(matches!(
        read_file(&place, &seen, 9),
        Err(SkillErrorKind::NotPlain)
    ));
}

// hardening: H-90
#[test]
fn the_directory_itself_may_be_reached_by_a_link() {
    let bed = Bed::new("real").skill("a");
    let links = Bed::new("links");
    symlink(&bed.0, links.0.join("skills")).expect("a link");
    let skills = read(&links.0.join("skills"), &SkillLimits::default()).expect("skills");
    assert_eq!(skills.len(), 1);
}

#[test]
fn names_that_cannot_be_served_are_errors() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    for name in [&b"a\xFF"[..], b"a\\b", b"a\nb"] {
        let bed = Bed::new("name").skill("a");
        fs::write(bed.0.join("a").join(OsStr::from_bytes(name)), b"").expect("a file");
        assert!(matches!(
            fault(&bed, &SkillLimits::default()),
            (_, SkillErrorKind::Name)
        ));
    }
}

#[test]
fn a_missing_or_empty_directory_is_an_error() {
    let bed = Bed::new("empty").with("README.md", b"");
    assert!(matches!(
        fault(&bed, &SkillLimits::default()),
        (_, SkillErrorKind::NoSkill)
    ));
    let error = read(&bed.0.join("nowhere"), &SkillLimits::default()).expect_err("not there");
    assert!(matches!(error.fault(), SkillErrorKind::Unreadable(_)));
}

#[test]
fn the_bytes_and_files_of_skills_are_bounded() {
    let bed = Bed::new("bounds")
        .with("a/SKILL.md", b"12345")
        .with("a/b/c", b"12345");
    let limits = |change: fn(&mut SkillLimits)| {
        let mut limits = SkillLimits::default();
        change(&mut limits);
        limits
    };
    let setting = |change| match fault(&bed, &limits(change)) {
        (_, SkillErrorKind::TooMuch { setting, .. }) => setting,
        other => panic!("{other:?}"),
    };
    assert!(
        bed.read(&limits(|limits| (
            limits.max_total_bytes,
            limits.max_depth
        ) = (10, 2)))
            .is_ok()
    );
    assert_eq!(setting(|limits| limits.max_total_bytes = 9), "total_bytes");
    assert_eq!(
        setting(|limits| limits.max_bytes_per_skill = 4),
        "skill_bytes"
    );
    assert_eq!(setting(|limits| limits.max_depth = 1), "depth");
    assert_eq!(
        setting(|limits| (limits.max_skills, limits.max_files_per_skill) = (1, 1)),
        "skill_files"
    );
}
