//! A host of skills: it lists them, and reads the files of a skill only to load it.

use pintle::Result;
use pintle::client::Client;
use pintle::model::{ListParams, ResourceContents};
use pintle_skills::{ListSkills, SkillEntry, SkillFiles};

/// Lists the skills, and reads none of their files.
pub(crate) async fn list(client: &Client) -> Result<Vec<SkillEntry>> {
    let mut skills = Vec::new();
    let mut params = ListParams::default();
    loop {
        let page = client.request::<ListSkills>(&params).await?;
        skills.extend(page.skills);
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            return Ok(skills);
        }
    }
}

/// Loads every skill that is listed.
///
/// # Errors
///
/// A file that does not match its description; nothing is read after it.
pub(crate) async fn load_all(client: &Client) -> Result<()> {
    for skill in list(client).await? {
        load(client, &skill).await?;
    }
    Ok(())
}

/// Reads `SKILL.md` first, because other files are worth reading only if it is valid.
async fn load(client: &Client, skill: &SkillEntry) -> Result<()> {
    read(client, skill, &skill.uri).await?;
    let SkillFiles::All(files) = &skill.resources else {
        return Ok(());
    };
    for file in files.iter().filter(|file| file.uri != skill.uri) {
        read(client, skill, &file.uri).await?;
    }
    Ok(())
}

async fn read(client: &Client, skill: &SkillEntry, uri: &str) -> Result<()> {
    let read = client.read_resource(uri).await?;
    let bytes = match read.contents.into_iter().next() {
        Some(ResourceContents::Text(text)) => text.text.into_bytes(),
        Some(ResourceContents::Blob(blob)) => blob.blob.decode()?,
        _ => return Err(format!("nothing can be read at {uri}").into()),
    };
    Ok(skill.check(uri, &bytes)?)
}
