"""The formulas by which a model's input tokens of images and PDFs are estimated.

OpenAI: "Images and vision", calculating costs. Anthropic: "Vision" and "PDF support" (for a page 1,500 to 3,000 tokens
of text, and an image of it). Google: "Understand and count tokens" and "Media resolution".
"""

import re

from cupel_core.domain.estimates.file_tokens import (
    FileBasis,
    FileFormulas,
    FixedTokens,
    GeminiTiles,
    OpenAiPatches,
    OpenAiTiles,
    PixelArea,
)
from cupel_core.providers import model_name_of, provider_of

_OPENAI_PAGE_TOKENS = 1_500.0
"""The tokens of a page's text and an image of it. OpenAI publishes no figure."""


def _patches(factor: float) -> FileFormulas:
    return FileFormulas(FileBasis.OPENAI_PATCHES, OpenAiPatches(factor), _OPENAI_PAGE_TOKENS)


def _tiles(base: int, per_tile: int) -> FileFormulas:
    return FileFormulas(FileBasis.OPENAI_TILES, OpenAiTiles(base, per_tile), _OPENAI_PAGE_TOKENS)


def _claude(max_side: int, max_tokens: int) -> FileFormulas:
    image = PixelArea(max_side, max_tokens)
    return FileFormulas(FileBasis.ANTHROPIC, image, page_tokens=2_250.0 + 1_600.0)


_OPENAI = [
    (r"gpt-(5|4\.1).*-mini", _patches(1.62)),
    (r"gpt-(5|4\.1).*-nano", _patches(2.46)),
    (r"o4-mini", _patches(1.72)),
    (r"gpt-4o-mini", _tiles(2833, 5667)),
    (r"o[13]\b", _tiles(75, 150)),
    (r"gpt-5", _tiles(70, 140)),
    (r"gpt-4|chatgpt", _tiles(85, 170)),
]
_ANTHROPIC = [(r"claude-opus-4-[7-9]\b|claude-\w+-[5-9]\b", _claude(2576, 4784)), (r"claude", _claude(1568, 1600))]
_GOOGLE = [
    (r"gemini-[12]", FileFormulas(FileBasis.GEMINI_2, GeminiTiles(), page_tokens=258.0)),
    (r"gemini", FileFormulas(FileBasis.GEMINI_3, FixedTokens(1120), page_tokens=560.0)),
]
_BY_NAME = (*_OPENAI, *_ANTHROPIC, *_GOOGLE)
_OWN_MODELS = frozenset({"sim", "connector"})


def file_formulas(model: str) -> FileFormulas:
    """Return the formulas by the name of the model, which is the same on other platforms: `anthropic.claude-…`."""
    if provider_of(model).name in _OWN_MODELS:
        return FileFormulas()
    name = model_name_of(model).replace("claude-3.", "claude-3-").replace("claude-opus-4.", "claude-opus-4-")
    return next((found for pattern, found in _BY_NAME if re.search(rf"(^|[/.])({pattern})", name)), FileFormulas())
