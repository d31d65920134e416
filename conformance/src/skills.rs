//! The skills that the suite lists, reads and walks through.

use pintle::prelude::*;
use pintle_skills::{Skill, SkillError, Skills};

const KNOTS: &str = include_str!("sample/skill/SKILL.md");
const TABLE: &str = include_str!("sample/skill/references/knots.md");
const WATCH: &str =
    "---\nname: watch-keeping\ndescription: Keeps a lookout.\n---\n\nLook around.\n";

/// Offers all skills.
pub(crate) fn offer(server: Server) -> Result<Server, SkillError> {
    let knots = Skill::new("knot-tying", KNOTS).file("references/knots.md", TABLE);
    let watch = Skill::new("deck/watch-keeping", WATCH);
    // The suite walks through the directory of the skill that comes first in the list.
    let hidden = Skill::new(
        "deck/man-overboard",
        WATCH.replace("watch-keeping", "man-overboard"),
    );
    let skills = Skills::new()
        .skill(knots)?
        .skill(watch.file("log/yesterday.txt", "Calm."))?
        .skill(hidden.unlisted())?;
    Ok(server.extend(skills))
}
