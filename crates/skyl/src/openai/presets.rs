//! The known servers: one row each, in one table.
//!
//! A row is an address, the variable that usually holds the key, and what the server wants
//! differently. A new server is a new row, and a constructor if people should find it by name.

use crate::key::ApiKey;
use crate::native::segment;
use crate::openai::OpenAiCompatible;
use crate::openai::quirks::{
    COMPATIBLE, CallIds, EffortField, Formats, OPENAI, Quirks, Replay, TokenLimit,
};

/// The servers that are known by name, in alphabetical order.
///
/// ```
/// let groq = skyl::openai::presets().iter().find(|preset| preset.name() == "groq");
/// assert_eq!(groq.and_then(|groq| groq.key_variable()), Some("GROQ_API_KEY"));
/// ```
#[must_use]
pub const fn presets() -> &'static [Preset] {
    &PRESETS
}

/// A known server: its address, its key's variable and what it wants differently.
///
/// What that is stands in the table of [`OpenAiCompatible::preset`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    name: &'static str,
    base_url: Option<&'static str>,
    key_variable: Option<&'static str>,
    needs_key: bool,
    key_header: Option<&'static str>,
    pub(super) quirks: Quirks,
}

impl Preset {
    /// The name, as it stands in errors and hooks, such as `groq`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The address, as its own documentation gives it.
    ///
    /// That of a server on this machine is the port it listens on by default. `None` where every
    /// account has an address of its own, as on Azure.
    #[must_use]
    pub const fn base_url(&self) -> Option<&'static str> {
        self.base_url
    }

    /// The environment variable that usually holds the key; nothing here reads it.
    #[must_use]
    pub const fn key_variable(&self) -> Option<&'static str> {
        self.key_variable
    }

    /// Whether the server refuses requests without a key; those on one's own machine do not.
    #[must_use]
    pub const fn needs_key(&self) -> bool {
        self.needs_key
    }

    /// The dialect of this server, without a key.
    ///
    /// Where there is no [`Preset::base_url`], calls fail until
    /// [`OpenAiCompatible::base_url`] sets one.
    #[must_use]
    pub fn dialect(&self) -> OpenAiCompatible {
        OpenAiCompatible::of(self)
    }

    /// The header of the key, where it has one of its own.
    pub(super) const fn key_header(&self) -> Option<&'static str> {
        self.key_header
    }

    /// Whether this server is meant: case and punctuation do not count.
    fn is_called(&self, name: &str) -> bool {
        let letters = |text: &'_ str| -> String {
            let letters = text.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_lowercase()).collect()
        };
        letters(self.name) == letters(name)
    }
}

/// Known servers. The others go by [`OpenAiCompatible::new`].
impl OpenAiCompatible {
    /// A known server by its name, without a key; `None` for a name that is not in [`presets`].
    ///
    /// Case and punctuation do not count: `llama.cpp` is `llama_cpp`.
    ///
    /// | name | base URL | key variable | what it wants differently |
    /// |---|---|---|---|
    /// | `azure` | none, see [`OpenAiCompatible::azure`] | `AZURE_OPENAI_API_KEY` | the key as `api-key`, `max_completion_tokens`, at most 4 stops |
    /// | `cerebras` | `https://api.cerebras.ai/v1` | `CEREBRAS_API_KEY` | `max_completion_tokens` |
    /// | `deepseek` | `https://api.deepseek.com` | `DEEPSEEK_API_KEY` | reasoning goes back while a tool loop runs; at most 16 stops; no JSON schema |
    /// | `fireworks` | `https://api.fireworks.ai/inference/v1` | `FIREWORKS_API_KEY` | nothing |
    /// | `groq` | `https://api.groq.com/openai/v1` | `GROQ_API_KEY` | `max_completion_tokens`, at most 4 stops |
    /// | `llama_cpp` | `http://localhost:8080/v1` | `LLAMA_API_KEY` | nothing |
    /// | `lm_studio` | `http://localhost:1234/v1` | `LM_API_TOKEN` | JSON by schema alone |
    /// | `minimax` | `https://api.minimax.io/v1` | `MINIMAX_API_KEY` | usage is not asked for, it comes anyway |
    /// | `mistral` | `https://api.mistral.ai/v1` | `MISTRAL_API_KEY` | ids of calls are nine letters and digits; `any` for `required`; usage is not asked for, it comes anyway |
    /// | `moonshot` | `https://api.moonshot.ai/v1` | `MOONSHOT_API_KEY` | reasoning goes back while a tool loop runs |
    /// | `ollama` | `http://localhost:11434/v1` | `OLLAMA_API_KEY` | images as bytes alone; tool choice is ignored there, so it is warned about |
    /// | `openrouter` | `https://openrouter.ai/api/v1` | `OPENROUTER_API_KEY` | effort as `reasoning.effort`; `reasoning_details` go back as they came |
    /// | `perplexity` | `https://api.perplexity.ai` | `PERPLEXITY_API_KEY` | JSON by schema alone; usage is not asked for, it comes anyway |
    /// | `together` | `https://api.together.xyz/v1` | `TOGETHER_API_KEY` | nothing |
    /// | `vllm` | `http://localhost:8000/v1` | `VLLM_API_KEY` | nothing |
    /// | `xai` | `https://api.x.ai/v1` | `XAI_API_KEY` | `max_completion_tokens` |
    ///
    /// Sources are the servers' own references, read in autumn 2026.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let preset = PRESETS.iter().find(|preset| preset.is_called(name))?;
        Some(preset.dialect())
    }

    /// A deployment on Azure OpenAI, with the key in `api-key`.
    ///
    /// `endpoint` is the resource's name or its whole address (`https://….openai.azure.com`);
    /// `api_version` goes with every request, such as `2024-10-21`. The deployment is what answers;
    /// the request's model is told to Azure and ignored there. Models cannot be listed by
    /// deployment: that is `Unsupported`.
    ///
    /// ```
    /// use skyl::Dialect as _;
    /// use skyl::openai::OpenAiCompatible;
    ///
    /// let azure = OpenAiCompatible::azure("contoso", "gpt-5-prod", "2024-10-21", "azure-key");
    /// let url = (&azure as &dyn skyl::Dialect).base_url().to_owned();
    /// assert_eq!(url, "https://contoso.openai.azure.com/openai/deployments/gpt-5-prod");
    /// ```
    #[must_use]
    pub fn azure(
        endpoint: impl AsRef<str>,
        deployment: impl AsRef<str>,
        api_version: impl AsRef<str>,
        key: impl Into<ApiKey>,
    ) -> Self {
        let url = format!(
            "{}/openai/deployments/{}?api-version={}",
            azure_endpoint(endpoint.as_ref()),
            segment(deployment.as_ref()),
            segment(api_version.as_ref()),
        );
        AZURE.dialect().base_url(url).without_models().key(key)
    }

    /// Azure OpenAI by its version 1 API, in which the request's model names the deployment.
    ///
    /// `endpoint` is as for [`OpenAiCompatible::azure`].
    #[must_use]
    pub fn azure_v1(endpoint: impl AsRef<str>, key: impl Into<ApiKey>) -> Self {
        let url = format!("{}/openai/v1", azure_endpoint(endpoint.as_ref()));
        AZURE.dialect().base_url(url).key(key)
    }

    /// Cerebras, at `https://api.cerebras.ai/v1`.
    #[must_use]
    pub fn cerebras(key: impl Into<ApiKey>) -> Self {
        CEREBRAS.dialect().key(key)
    }

    /// `DeepSeek`, at `https://api.deepseek.com`.
    #[must_use]
    pub fn deepseek(key: impl Into<ApiKey>) -> Self {
        DEEPSEEK.dialect().key(key)
    }

    /// Fireworks, at `https://api.fireworks.ai/inference/v1`.
    #[must_use]
    pub fn fireworks(key: impl Into<ApiKey>) -> Self {
        FIREWORKS.dialect().key(key)
    }

    /// Groq, at `https://api.groq.com/openai/v1`.
    #[must_use]
    pub fn groq(key: impl Into<ApiKey>) -> Self {
        GROQ.dialect().key(key)
    }

    /// A llama.cpp server, at `http://localhost:8080/v1`; without a key unless one is set.
    #[must_use]
    pub fn llama_cpp() -> Self {
        LLAMA_CPP.dialect()
    }

    /// LM Studio, at `http://localhost:1234/v1`; without a key unless one is set.
    #[must_use]
    pub fn lm_studio() -> Self {
        LM_STUDIO.dialect()
    }

    /// `MiniMax`, at `https://api.minimax.io/v1`.
    #[must_use]
    pub fn minimax(key: impl Into<ApiKey>) -> Self {
        MINIMAX.dialect().key(key)
    }

    /// Mistral, at `https://api.mistral.ai/v1`.
    #[must_use]
    pub fn mistral(key: impl Into<ApiKey>) -> Self {
        MISTRAL.dialect().key(key)
    }

    /// Moonshot, at `https://api.moonshot.ai/v1`.
    #[must_use]
    pub fn moonshot(key: impl Into<ApiKey>) -> Self {
        MOONSHOT.dialect().key(key)
    }

    /// Ollama, at `http://localhost:11434/v1`; without a key unless one is set.
    #[must_use]
    pub fn ollama() -> Self {
        OLLAMA.dialect()
    }

    /// `OpenRouter`, at `https://openrouter.ai/api/v1`.
    ///
    /// Its rankings go by `HTTP-Referer` and `X-Title`: see [`OpenAiCompatible::header`].
    #[must_use]
    pub fn openrouter(key: impl Into<ApiKey>) -> Self {
        OPENROUTER.dialect().key(key)
    }

    /// Perplexity, at `https://api.perplexity.ai`.
    #[must_use]
    pub fn perplexity(key: impl Into<ApiKey>) -> Self {
        PERPLEXITY.dialect().key(key)
    }

    /// Together, at `https://api.together.xyz/v1`.
    #[must_use]
    pub fn together(key: impl Into<ApiKey>) -> Self {
        TOGETHER.dialect().key(key)
    }

    /// A vLLM server, at `http://localhost:8000/v1`; without a key unless one is set.
    #[must_use]
    pub fn vllm() -> Self {
        VLLM.dialect()
    }

    /// xAI, at `https://api.x.ai/v1`.
    #[must_use]
    pub fn xai(key: impl Into<ApiKey>) -> Self {
        XAI.dialect().key(key)
    }
}

/// The address of an Azure resource, from its name or from itself.
fn azure_endpoint(endpoint: &str) -> String {
    let endpoint = endpoint.trim().trim_end_matches('/');
    if endpoint.contains("://") {
        return endpoint.to_owned();
    }
    if endpoint.contains('.') {
        return format!("https://{endpoint}");
    }
    format!("https://{}.openai.azure.com", segment(endpoint))
}

/// A server in the network, and the variable of its key.
const fn hosted(
    name: &'static str,
    base_url: &'static str,
    key_variable: &'static str,
    quirks: Quirks,
) -> Preset {
    Preset {
        name,
        base_url: Some(base_url),
        key_variable: Some(key_variable),
        needs_key: true,
        key_header: None,
        quirks,
    }
}

/// A server on one's own machine, which asks for a key only if it was told to.
const fn local(
    name: &'static str,
    base_url: &'static str,
    key_variable: &'static str,
    quirks: Quirks,
) -> Preset {
    Preset {
        name,
        base_url: Some(base_url),
        key_variable: Some(key_variable),
        needs_key: false,
        key_header: None,
        quirks,
    }
}

/// OpenAI's own models, by other ways to the key and the address.
const AZURE: Preset = Preset {
    name: "azure",
    base_url: None,
    key_variable: Some("AZURE_OPENAI_API_KEY"),
    needs_key: true,
    key_header: Some("api-key"),
    quirks: OPENAI,
};

const CEREBRAS: Preset = hosted(
    "cerebras",
    "https://api.cerebras.ai/v1",
    "CEREBRAS_API_KEY",
    Quirks {
        token_limit: TokenLimit::MaxCompletionTokens,
        ..COMPATIBLE
    },
);

const DEEPSEEK: Preset = hosted(
    "deepseek",
    "https://api.deepseek.com",
    "DEEPSEEK_API_KEY",
    Quirks {
        max_stops: Some(16),
        replay: Replay::ToolLoop,
        formats: Formats::ObjectOnly,
        ..COMPATIBLE
    },
);

const FIREWORKS: Preset = hosted(
    "fireworks",
    "https://api.fireworks.ai/inference/v1",
    "FIREWORKS_API_KEY",
    COMPATIBLE,
);

const GROQ: Preset = hosted(
    "groq",
    "https://api.groq.com/openai/v1",
    "GROQ_API_KEY",
    Quirks {
        token_limit: TokenLimit::MaxCompletionTokens,
        max_stops: Some(4),
        ..COMPATIBLE
    },
);

const LLAMA_CPP: Preset = local(
    "llama_cpp",
    "http://localhost:8080/v1",
    "LLAMA_API_KEY",
    COMPATIBLE,
);

const LM_STUDIO: Preset = local(
    "lm_studio",
    "http://localhost:1234/v1",
    "LM_API_TOKEN",
    Quirks {
        formats: Formats::SchemaOnly,
        ..COMPATIBLE
    },
);

/// It refuses fields it does not know, and its last chunk has the usage without being asked.
const MINIMAX: Preset = hosted(
    "minimax",
    "https://api.minimax.io/v1",
    "MINIMAX_API_KEY",
    Quirks {
        stream_usage: false,
        ..COMPATIBLE
    },
);

/// It refuses fields it does not know, and its last chunk has the usage without being asked.
const MISTRAL: Preset = hosted(
    "mistral",
    "https://api.mistral.ai/v1",
    "MISTRAL_API_KEY",
    Quirks {
        stream_usage: false,
        must_call: "any",
        call_ids: CallIds::Nine,
        ..COMPATIBLE
    },
);

const MOONSHOT: Preset = hosted(
    "moonshot",
    "https://api.moonshot.ai/v1",
    "MOONSHOT_API_KEY",
    Quirks {
        replay: Replay::ToolLoop,
        ..COMPATIBLE
    },
);

const OLLAMA: Preset = local(
    "ollama",
    "http://localhost:11434/v1",
    "OLLAMA_API_KEY",
    Quirks {
        obeys_tool_choice: false,
        fetches_images: false,
        ..COMPATIBLE
    },
);

const OPENROUTER: Preset = hosted(
    "openrouter",
    "https://openrouter.ai/api/v1",
    "OPENROUTER_API_KEY",
    Quirks {
        replay: Replay::Details,
        effort: EffortField::Object,
        ..COMPATIBLE
    },
);

const PERPLEXITY: Preset = hosted(
    "perplexity",
    "https://api.perplexity.ai",
    "PERPLEXITY_API_KEY",
    Quirks {
        stream_usage: false,
        formats: Formats::SchemaOnly,
        ..COMPATIBLE
    },
);

const TOGETHER: Preset = hosted(
    "together",
    "https://api.together.xyz/v1",
    "TOGETHER_API_KEY",
    COMPATIBLE,
);

const VLLM: Preset = local(
    "vllm",
    "http://localhost:8000/v1",
    "VLLM_API_KEY",
    COMPATIBLE,
);

const XAI: Preset = hosted(
    "xai",
    "https://api.x.ai/v1",
    "XAI_API_KEY",
    Quirks {
        token_limit: TokenLimit::MaxCompletionTokens,
        ..COMPATIBLE
    },
);

static PRESETS: [Preset; 16] = [
    AZURE, CEREBRAS, DEEPSEEK, FIREWORKS, GROQ, LLAMA_CPP, LM_STUDIO, MINIMAX, MISTRAL, MOONSHOT,
    OLLAMA, OPENROUTER, PERPLEXITY, TOGETHER, VLLM, XAI,
];

#[cfg(test)]
mod tests;
