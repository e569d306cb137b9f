//! What `cargo metadata` says about the workspace, cut down to what the checks ask.
//!
//! Parsed by hand from JSON: the checks use a dozen fields of a large and growing document, and a
//! field that is missing is named in the error.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

/// The packages of one workspace and where it lies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The folder of the root manifest.
    pub root: PathBuf,
    /// Where cargo writes: `target/`, unless the machine is set up otherwise.
    pub target: PathBuf,
    /// The members first asked for, and with [`Reach::Everything`] all they depend on.
    pub packages: Vec<Package>,
}

/// How far to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The members alone. Needs neither a network nor a lock file.
    Members,
    /// All packages of the lock file, for every platform. Downloads what is missing.
    Everything,
}

/// One package, a member or a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The name under which it is published.
    pub name: String,
    /// The exact version.
    pub version: String,
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// The SPDX expression, if it states one.
    pub licence: Option<String>,
    /// Whether it belongs to the workspace.
    pub member: bool,
    /// Whether it has a library target (a procedural macro counts).
    pub library: bool,
    /// Its features, `default` and those of optional dependencies included.
    pub features: Vec<String>,
    /// What its manifest asks for, for every platform and feature.
    pub dependencies: Vec<Dependency>,
}

/// One entry of a manifest's dependency tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the package asked for, whatever it is renamed to.
    pub name: String,
    /// The table it stands in.
    pub kind: Kind,
    /// The folder, if it is a path dependency.
    pub path: Option<PathBuf>,
}

/// The table of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `[dependencies]`.
    Normal,
    /// `[build-dependencies]`.
    Build,
    /// `[dev-dependencies]`.
    Dev,
}

impl Metadata {
    /// Runs `cargo metadata` in `folder` and parses its answer.
    ///
    /// # Errors
    /// When cargo cannot be run, refuses, or answers something else.
    pub fn load(folder: &Path, reach: Reach) -> Result<Self, String> {
        let output = cargo(folder)
            .args(reach.arguments())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot run cargo: {e}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata failed ({})", output.status));
        }
        let text = String::from_utf8(output.stdout)
            .map_err(|_| "cargo metadata answered something that is not text".to_owned())?;
        Self::parse(&text)
    }

    /// Reads the JSON document of `cargo metadata --format-version 1`.
    ///
    /// # Errors
    /// When the text is not JSON or lacks a field; the field is named.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(text).map_err(|e| format!("cargo metadata: {e}"))?;
        let members = array(&document, "workspace_members")?;
        let packages = array(&document, "packages")?
            .iter()
            .map(|package| Package::parse(package, members))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            root: string(&document, "workspace_root")?.into(),
            target: string(&document, "target_directory")?.into(),
            packages,
        })
    }

    /// The packages that belong to the workspace.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| p.member)
    }
}

impl Reach {
    /// The arguments of cargo, as printed before a check that asks.
    #[must_use]
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Members => &["metadata", "--format-version", "1", "--no-deps"],
            Self::Everything => &["metadata", "--format-version", "1", "--locked"],
        }
    }
}

impl Package {
    fn parse(package: &Value, members: &[Value]) -> Result<Self, String> {
        let manifest = PathBuf::from(string(package, "manifest_path")?);
        let library = array(package, "targets")?.iter().any(|target| {
            let kinds = target["kind"].as_array().map_or(&[][..], Vec::as_slice);
            kinds
                .iter()
                .filter_map(Value::as_str)
                .any(|kind| LIBRARY_KINDS.contains(&kind))
        });
        let features = package["features"].as_object();
        Ok(Self {
            name: string(package, "name")?.to_owned(),
            version: string(package, "version")?.to_owned(),
            folder: manifest.parent().unwrap_or(&manifest).to_owned(),
            licence: package["license"].as_str().map(str::to_owned),
            member: members.contains(&package["id"]),
            library,
            features: features.map_or_else(Vec::new, |f| f.keys().cloned().collect()),
            dependencies: array(package, "dependencies")?
                .iter()
                .map(Dependency::parse)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Dependency {
    fn parse(dependency: &Value) -> Result<Self, String> {
        let kind = match dependency["kind"].as_str() {
            None => Kind::Normal,
            Some("build") => Kind::Build,
            Some("dev") => Kind::Dev,
            Some(other) => return Err(format!("cargo metadata: unknown kind {other:?}")),
        };
        Ok(Self {
            name: string(dependency, "name")?.to_owned(),
            kind,
            path: dependency["path"].as_str().map(PathBuf::from),
        })
    }
}

/// A cargo command in `folder`: the cargo that runs us, if one does.
#[must_use]
pub fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder);
    command
}

fn string<'a>(value: &'a Value, field: &str) -> Result<&'a str, String> {
    value[field].as_str().ok_or_else(|| missing(field))
}

fn array<'a>(value: &'a Value, field: &str) -> Result<&'a [Value], String> {
    value[field]
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| missing(field))
}

fn missing(field: &str) -> String {
    format!("cargo metadata: no usable field `{field}`")
}

const LIBRARY_KINDS: [&str; 6] = ["lib", "rlib", "dylib", "cdylib", "staticlib", "proc-macro"];

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{
        "workspace_root": "/w",
        "target_directory": "/w/target",
        "workspace_members": ["ours"],
        "packages": [
            {"id": "ours", "name": "skyl", "version": "0.1.0", "license": "MIT OR Apache-2.0",
             "manifest_path": "/w/crates/skyl/Cargo.toml",
             "targets": [{"kind": ["lib"]}, {"kind": ["test"]}],
             "features": {"default": [], "tokio": ["dep:tokio"]},
             "dependencies": [
                {"name": "tokio", "kind": null},
                {"name": "skyl-sandbox", "kind": "dev", "path": "/w/crates/skyl-sandbox"}]},
            {"id": "theirs", "name": "tokio", "version": "1.54.0", "license": null,
             "manifest_path": "/r/tokio/Cargo.toml", "targets": [{"kind": ["bin"]}],
             "features": {}, "dependencies": [{"name": "cc", "kind": "build"}]}
        ]
    }"#;

    #[test]
    fn reads_members_and_what_they_ask_for() {
        let metadata = Metadata::parse(DOCUMENT).unwrap();
        assert_eq!(metadata.root, Path::new("/w"));
        assert_eq!(metadata.target, Path::new("/w/target"));
        let [ours, theirs] = metadata.packages.as_slice() else {
            panic!("two packages")
        };
        assert!(ours.member && ours.library && !theirs.member && !theirs.library);
        assert_eq!(ours.features, ["default", "tokio"]);
        assert_eq!(ours.folder, Path::new("/w/crates/skyl"));
        assert_eq!(ours.dependencies[0].kind, Kind::Normal);
        assert_eq!(ours.dependencies[1].kind, Kind::Dev);
        assert_eq!(theirs.dependencies[0].kind, Kind::Build);
        assert_eq!(
            (ours.licence.is_some(), theirs.licence.is_some()),
            (true, false)
        );
        assert_eq!(metadata.members().count(), 1);
    }

    #[test]
    fn a_missing_field_is_named() {
        let cut = DOCUMENT.replace("\"targets\"", "\"goals\"");
        assert!(Metadata::parse(&cut).unwrap_err().contains("`targets`"));
        assert!(
            Metadata::parse("[]")
                .unwrap_err()
                .contains("`workspace_members`")
        );
        assert!(Metadata::parse("{").is_err());
    }
}
