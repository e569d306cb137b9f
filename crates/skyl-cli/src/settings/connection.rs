//! Who is asked: provider, address, key, headers.

use std::fmt;

use http::Uri;
use skyl::ApiKey;
use skyl::openai::Preset;

use crate::args::{ConnectionArgs, Secret};
use crate::env::Env;
use crate::failure::Failure;
use crate::provider::{self, Api, KeyRule, Provider};
use crate::settings::{Names, Source, Sourced};

/// A provider and how to reach it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) provider: &'static Provider,
    /// The known server that is meant; for compat alone.
    pub(crate) preset: Option<&'static Preset>,
    /// Who chose the provider; `None` is the default.
    pub(crate) chosen_by: Option<Source>,
    pub(crate) base_url: Option<String>,
    pub(crate) key: Option<Sourced<ApiKey>>,
    pub(crate) headers: Vec<Header>,
}

/// A header line to send along.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: String,
}

// A header may carry a secret of a gateway.
impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: [redacted]", self.name)
    }
}

impl Connection {
    /// Settles who is asked. `faults` is whether the sandbox is to fail on demand.
    pub(crate) fn resolve(
        api: Api,
        args: &ConnectionArgs,
        env: &Env,
        faults: Faults,
    ) -> Result<Self, Failure> {
        let base_url = BASE_URL.pick_text(args.base_url.as_deref(), env)?;
        let named = PROVIDER.pick_text(args.provider.as_deref(), env)?;
        let preset = match api {
            Api::Chat => PRESET.pick_text(args.preset.as_deref(), env)?,
            // Its variable may be there for chats; the flag is none of this API's.
            Api::SystemOne if args.preset.is_none() => None,
            Api::SystemOne => {
                return Err(Failure::usage(
                    "--preset: these servers take chats and no System One questions",
                ));
            }
        };
        let (named, preset) = settled(named, preset)?;
        let (provider, chosen_by) = match (&named, &preset, &base_url) {
            (Some(name), ..) => (
                provider::find(&name.value, name.source, api)?,
                Some(name.source),
            ),
            (None, Some(preset), _) => (&provider::COMPAT, Some(preset.source)),
            (None, None, Some(url)) => (api.at_an_address(), Some(url.source)),
            (None, None, None) => (&provider::SANDBOX, None),
        };
        let preset = match preset {
            Some(preset) => Some(provider::find_preset(&preset.value, preset.source)?),
            None => None,
        };
        if faults == Faults::Asked && !provider.is_sandbox() {
            return Err(Failure::usage(format!(
                "--fault needs the embedded sandbox, but the provider is {} ({})",
                provider.name,
                chosen_by.map_or_else(|| "default".to_owned(), |source| source.to_string()),
            )));
        }
        let places = Places::of(provider, preset, base_url.is_some());
        Ok(Self {
            provider,
            preset,
            chosen_by,
            base_url: address(provider, api, &places, base_url, env)?,
            key: key(&places, args, env)?,
            headers: args.headers.iter().map(header).collect::<Result<_, _>>()?,
        })
    }

    /// What the named provider is asked, for commands that go with both.
    pub(crate) fn api(args: &ConnectionArgs, env: &Env) -> Result<Api, Failure> {
        let named = PROVIDER.pick_text(args.provider.as_deref(), env)?;
        Ok(named.map_or(Api::Chat, |name| provider::api_of(&name.value)))
    }

    /// What the caller calls the other side: the provider, or the known server.
    pub(crate) fn name(&self) -> &'static str {
        self.preset.map_or(self.provider.name, Preset::name)
    }

    pub(crate) fn is_sandbox(&self) -> bool {
        self.provider.is_sandbox()
    }
}

/// A name that somebody gave, if one did.
type Named = Option<Sourced<String>>;

/// The provider and the known server that hold, where both were named.
///
/// A flag goes before a variable: `--provider openai` beside `SKYL_PRESET` means OpenAI, and
/// `--preset` beside `SKYL_PROVIDER` that server. Two of the same rank must agree.
fn settled(provider: Named, preset: Named) -> Result<(Named, Named), Failure> {
    let (Some(named), Some(known)) = (&provider, &preset) else {
        return Ok((provider, preset));
    };
    if named.value == provider::COMPAT.name {
        return Ok((provider, preset));
    }
    match (named.source, known.source) {
        (Source::Flag(_), Source::Variable(_)) => Ok((provider, None)),
        (Source::Variable(_), Source::Flag(_)) => Ok((None, preset)),
        _ => Err(Failure::usage(format!(
            "{} names a server of {}, but the provider is {} ({})",
            known.source,
            provider::COMPAT.name,
            named.value,
            named.source
        ))),
    }
}

/// Where a provider or known server keeps its key and its address.
struct Places {
    name: &'static str,
    key_vars: Vec<&'static str>,
    key_rule: KeyRule,
    needs_base_url: bool,
}

impl Places {
    fn of(provider: &'static Provider, preset: Option<&'static Preset>, moved: bool) -> Self {
        let Some(preset) = preset else {
            return Self {
                name: provider.name,
                key_vars: provider.key_vars.to_vec(),
                key_rule: provider.key_rule,
                needs_base_url: provider.needs_base_url,
            };
        };
        let own = preset.key_variable().into_iter();
        Self {
            name: preset.name(),
            key_vars: own.chain(provider.key_vars.iter().copied()).collect(),
            // Whoever stands at another address has rules of their own.
            key_rule: if preset.needs_key() && !moved {
                KeyRule::Needed
            } else {
                KeyRule::Optional
            },
            needs_base_url: preset.base_url().is_none(),
        }
    }
}

/// Whether faults are asked of the embedded sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    None,
    Asked,
}

fn address(
    provider: &Provider,
    api: Api,
    places: &Places,
    given: Option<Sourced<String>>,
    env: &Env,
) -> Result<Option<String>, Failure> {
    if provider.is_sandbox() {
        return match given {
            // A variable may be there for other calls; a flag is meant for this one.
            Some(url) if matches!(url.source, Source::Flag(_)) => Err(Failure::usage(format!(
                "--base-url: the sandbox is inside this program and has no other address; \
                 for a sandbox that runs elsewhere use --provider {} --base-url",
                api.example()
            ))),
            _ => Ok(None),
        };
    }
    let mut url = given;
    for &var in provider.base_url_vars {
        if url.is_none()
            && let Some(text) = env.text(var)?
        {
            url = Some(Sourced {
                value: text.to_owned(),
                source: Source::Variable(var),
            });
        }
    }
    match url {
        Some(url) => checked(&url).map(Some),
        None if places.needs_base_url => Err(Failure::usage(format!(
            "{} needs an address: --base-url or {}",
            places.name, BASE_URL.var
        ))),
        None => Ok(None),
    }
}

/// Says what is wrong with an address without repeating it: it may hold a password.
fn checked(url: &Sourced<String>) -> Result<String, Failure> {
    let refuse = |why: &str| Err(Failure::usage(format!("{}: {why}", url.source)));
    let is_web = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    let Ok(uri) = url.value.parse::<Uri>() else {
        return refuse(if is_web(&url.value) {
            "this is not an address"
        } else {
            NO_SCHEME
        });
    };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return refuse(NO_SCHEME);
    }
    let Some(authority) = uri.authority() else {
        return refuse("expected a host");
    };
    if authority.host().is_empty() {
        return refuse("expected a host");
    }
    if authority.as_str().contains('@') {
        return refuse("an address holds no user or password; use --api-key or --header");
    }
    // A query stays: some servers want a version there.
    if url.value.contains('#') {
        return refuse("an address has no fragment");
    }
    Ok(url.value.clone())
}

fn key(
    places: &Places,
    args: &ConnectionArgs,
    env: &Env,
) -> Result<Option<Sourced<ApiKey>>, Failure> {
    if let Some(Secret(key)) = &args.api_key
        && !key.trim().is_empty()
    {
        let source = Source::Flag("--api-key");
        return Ok(Some(Sourced {
            value: ApiKey::new(key.as_str()),
            source,
        }));
    }
    for &var in &places.key_vars {
        if let Some(key) = env.text(var)? {
            let source = Source::Variable(var);
            return Ok(Some(Sourced {
                value: ApiKey::new(key),
                source,
            }));
        }
    }
    match places.key_rule {
        KeyRule::Needed => Err(Failure::usage(format!(
            "{} needs a key: set {} or pass --api-key",
            places.name,
            places.key_vars.join(" or "),
        ))),
        KeyRule::Optional => Ok(None),
    }
}

fn header(Secret(text): &Secret) -> Result<Header, Failure> {
    let (name, value) = text.split_once('=').unwrap_or_default();
    if name.trim().is_empty() {
        return Err(Failure::usage("--header: expected NAME=VALUE"));
    }
    Ok(Header {
        name: name.trim().to_owned(),
        value: value.to_owned(),
    })
}

const NO_SCHEME: &str = "expected an address that begins with http:// or https://";

pub(crate) const PROVIDER: Names = Names::new("--provider", "SKYL_PROVIDER");
pub(crate) const PRESET: Names = Names::new("--preset", "SKYL_PRESET");
pub(crate) const BASE_URL: Names = Names::new("--base-url", "SKYL_BASE_URL");
