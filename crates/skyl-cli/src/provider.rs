//! The providers there are: one row each.
//!
//! A row says where keys and addresses come from and how a client is made; a new provider is a new
//! row and nothing else.

use std::fmt;

use skyl::anthropic::Anthropic;
use skyl::gemini::Gemini;
use skyl::openai::{OpenAi, OpenAiCompatible, Preset, Responses, presets};
use skyl::{ApiKey, Client, ClientBuilder};

use crate::failure::Failure;
use crate::settings::Source;

/// A provider, as the command line knows it.
pub(crate) struct Provider {
    pub(crate) name: &'static str,
    api: Option<Api>,
    /// Where a key comes from without a flag, the first first.
    pub(crate) key_vars: &'static [&'static str],
    pub(crate) key_rule: KeyRule,
    /// Where an address comes from without a flag and without `SKYL_BASE_URL`.
    pub(crate) base_url_vars: &'static [&'static str],
    pub(crate) needs_base_url: bool,
    /// The model asked where none is named; `None` where one must be.
    pub(crate) default_model: Option<&'static str>,
    /// How a chat client is made.
    connect: Option<fn(&Target<'_>) -> ClientBuilder>,
}

/// What a provider is asked: who takes a chat takes no System One questions, and the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    SystemOne,
}

impl Api {
    /// Who is asked where an address is given and no provider.
    pub(crate) fn at_an_address(self) -> &'static Provider {
        match self {
            Self::Chat => &COMPAT,
            Self::SystemOne => &TYPESAFE,
        }
    }

    /// A provider to name for a sandbox that runs elsewhere.
    pub(crate) const fn example(self) -> &'static str {
        match self {
            Self::Chat => OPENAI.name,
            Self::SystemOne => TYPESAFE.name,
        }
    }

    /// The command for those who asked the other API.
    const fn command(self) -> &'static str {
        match self {
            Self::Chat => "skyl chat",
            Self::SystemOne => "skyl ask",
        }
    }
}

/// Whether a provider answers without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyRule {
    Needed,
    Optional,
}

/// Where a client goes, and with which key.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    /// The known server that is meant; for compat alone.
    pub(crate) preset: Option<&'static Preset>,
    pub(crate) base_url: Option<&'a str>,
    pub(crate) key: Option<&'a ApiKey>,
}

impl Target<'_> {
    /// The key of a provider that needs one; where it is missing, nobody got this far.
    fn key(&self) -> ApiKey {
        self.key.cloned().unwrap_or_else(|| ApiKey::new(""))
    }
}

impl Provider {
    pub(crate) fn is_sandbox(&self) -> bool {
        self.name == SANDBOX.name
    }

    /// A chat client of this provider.
    pub(crate) fn connect(&self, target: &Target<'_>) -> Result<ClientBuilder, Failure> {
        match self.connect {
            Some(connect) => Ok(connect(target)),
            None => Err(Failure::usage(format!("{} has no chat client", self.name))),
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What the provider of this name is asked; chats where there is none.
pub(crate) fn api_of(name: &str) -> Api {
    let found = PROVIDERS.iter().find(|provider| provider.name == name);
    found.and_then(|provider| provider.api).unwrap_or(Api::Chat)
}

/// Finds a provider of an API by name.
pub(crate) fn find(name: &str, source: Source, api: Api) -> Result<&'static Provider, Failure> {
    match PROVIDERS.iter().find(|provider| provider.name == name) {
        Some(provider) => match provider.api {
            Some(other) if other != api => Err(Failure::usage(format!(
                "{source}: {name} goes with `{}`; here there are {}",
                other.command(),
                available(api)
            ))),
            _ => Ok(provider),
        },
        None => Err(Failure::usage(format!(
            "{source}: no provider is called `{name}`; there are {}",
            available(api)
        ))),
    }
}

/// Finds a known server by name; case and punctuation do not count.
pub(crate) fn find_preset(name: &str, source: Source) -> Result<&'static Preset, Failure> {
    let letters = |text: &str| text.to_ascii_lowercase().replace(['_', '-', '.', ' '], "");
    let found = presets()
        .iter()
        .find(|preset| letters(preset.name()) == letters(name));
    found.ok_or_else(|| {
        let names: Vec<&str> = presets().iter().map(Preset::name).collect();
        Failure::usage(format!(
            "{source}: no server is known as `{name}`; there are {}",
            listed(&names)
        ))
    })
}

fn available(api: Api) -> String {
    let names: Vec<&str> = PROVIDERS
        .iter()
        .filter(|provider| provider.api.is_none_or(|its| its == api))
        .map(|provider| provider.name)
        .collect();
    listed(&names)
}

fn listed(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

fn openai(target: &Target<'_>) -> ClientBuilder {
    let dialect = OpenAi::new(target.key());
    Client::builder(match target.base_url {
        Some(url) => dialect.base_url(url),
        None => dialect,
    })
}

fn responses(target: &Target<'_>) -> ClientBuilder {
    let dialect = Responses::new(target.key());
    Client::builder(match target.base_url {
        Some(url) => dialect.base_url(url),
        None => dialect,
    })
}

fn anthropic(target: &Target<'_>) -> ClientBuilder {
    let dialect = Anthropic::new(target.key());
    Client::builder(match target.base_url {
        Some(url) => dialect.base_url(url),
        None => dialect,
    })
}

fn gemini(target: &Target<'_>) -> ClientBuilder {
    let dialect = Gemini::new(target.key());
    Client::builder(match target.base_url {
        Some(url) => dialect.base_url(url),
        None => dialect,
    })
}

fn compatible(target: &Target<'_>) -> ClientBuilder {
    let dialect = match (target.preset, target.base_url) {
        (Some(preset), Some(url)) => preset.dialect().base_url(url),
        (Some(preset), None) => preset.dialect(),
        // Errors and records call the server by the name it was asked for.
        (None, url) => OpenAiCompatible::new(url.unwrap_or_default()).name(COMPAT.name),
    };
    Client::builder(match target.key {
        Some(key) => dialect.key(key.clone()),
        None => dialect,
    })
}

/// Inside this program: no key, no network beyond the machine, no bill. It speaks OpenAI's words.
pub(crate) static SANDBOX: Provider = Provider {
    name: "sandbox",
    // Its server plays everybody.
    api: None,
    key_vars: &[],
    key_rule: KeyRule::Optional,
    base_url_vars: &[],
    needs_base_url: false,
    default_model: Some("gpt-5.6"),
    connect: Some(openai),
};

/// Any server with the chat interface of OpenAI.
pub(crate) static COMPAT: Provider = Provider {
    name: "compat",
    api: Some(Api::Chat),
    key_vars: &["SKYL_API_KEY"],
    key_rule: KeyRule::Optional,
    base_url_vars: &[],
    needs_base_url: true,
    default_model: None,
    connect: Some(compatible),
};

static OPENAI: Provider = Provider {
    name: "openai",
    api: Some(Api::Chat),
    key_vars: &["OPENAI_API_KEY"],
    key_rule: KeyRule::Needed,
    base_url_vars: &["OPENAI_BASE_URL"],
    needs_base_url: false,
    default_model: None,
    connect: Some(openai),
};

static ANTHROPIC: Provider = Provider {
    name: "anthropic",
    key_vars: &["ANTHROPIC_API_KEY"],
    base_url_vars: &["ANTHROPIC_BASE_URL"],
    connect: Some(anthropic),
    ..OPENAI
};

static GEMINI: Provider = Provider {
    name: "gemini",
    key_vars: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    base_url_vars: &["GOOGLE_GEMINI_BASE_URL"],
    connect: Some(gemini),
    ..OPENAI
};

/// The makers of System One.
static TYPESAFE: Provider = Provider {
    name: "typesafe",
    api: Some(Api::SystemOne),
    key_vars: &["TYPESAFE_API_KEY"],
    base_url_vars: &["TYPESAFE_BASE_URL"],
    connect: None,
    ..OPENAI
};

/// OpenAI's other interface, at the same address with the same key.
static RESPONSES: Provider = Provider {
    name: "responses",
    connect: Some(responses),
    ..OPENAI
};

static PROVIDERS: [&Provider; 7] = [
    &SANDBOX, &OPENAI, &RESPONSES, &ANTHROPIC, &GEMINI, &COMPAT, &TYPESAFE,
];
