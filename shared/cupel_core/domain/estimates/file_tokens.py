"""Estimates the input tokens of images and PDFs by the formulas that the makers of models publish."""

from collections.abc import Iterable
from enum import StrEnum
from math import ceil
from typing import NamedTuple, Protocol

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.parts import FilePart, ImageDetail

_DEFAULT_SIDE = 1024
"""An image of unknown size is assumed to have sides of this many pixels."""
_BYTES_PER_PAGE = 50_000
"""A PDF is assumed to have this many bytes per page, because its pages are not counted."""


class FileBasis(StrEnum):
    """The maker of models whose formula estimates the tokens of images and PDFs."""

    OPENAI_TILES = "openai_tiles"
    OPENAI_PATCHES = "openai_patches"
    ANTHROPIC = "anthropic"
    GEMINI_2 = "gemini_2"
    GEMINI_3 = "gemini_3"
    ASSUMED = "assumed"
    """The formula of Anthropic's models is assumed, because the maker publishes none or is unknown."""


class SentImage(NamedTuple):
    width: int
    height: int
    detail: ImageDetail | None = None


class ImageFormula(Protocol):
    def tokens(self, image: SentImage, /) -> float: ...


@dataclass(frozen=True)
class OpenAiTiles:
    """Scales an image into a square of 2,048 pixels, then to a shorter side of at most 768, and cuts it into tiles of
    512."""

    base: int
    per_tile: int

    def tokens(self, image: SentImage, /) -> float:
        if image.detail is ImageDetail.LOW:
            return float(self.base)
        scale = min(1.0, 2048 / max(image.width, image.height))
        scale = min(scale, 768 / min(image.width, image.height))
        return float(self.base + self.per_tile * ceil(image.width * scale / 512) * ceil(image.height * scale / 512))


@dataclass(frozen=True)
class OpenAiPatches:
    """Counts a token per patch of 32 by 32 pixels, at most 1,536, times a factor of the model; the detail has no
    effect."""

    factor: float
    max_patches: int = 1536

    def tokens(self, image: SentImage, /) -> float:
        return min(ceil(image.width / 32) * ceil(image.height / 32), self.max_patches) * self.factor


@dataclass(frozen=True)
class PixelArea:
    """Counts a token per 750 pixels, after scaling the image to the largest size that the model sees."""

    max_side: int = 1568
    max_tokens: int = 1600

    def tokens(self, image: SentImage, /) -> float:
        scale = min(1.0, self.max_side / max(image.width, image.height))
        return min(image.width * scale * image.height * scale / 750, float(self.max_tokens))


@dataclass(frozen=True)
class GeminiTiles:
    """Counts 258 tokens for an image of at most 384 pixels a side, and else for each square of two thirds of its
    shorter side."""

    def tokens(self, image: SentImage, /) -> float:
        if max(image.width, image.height) <= 384:
            return 258.0
        side = min(768, max(256, int(min(image.width, image.height) / 1.5)))
        return 258.0 * ceil(image.width / side) * ceil(image.height / side)


@dataclass(frozen=True)
class FixedTokens:
    each: int

    def tokens(self, _: SentImage, /) -> float:
        return float(self.each)


@dataclass(frozen=True)
class FileFormulas:
    basis: FileBasis = FileBasis.ASSUMED
    image: ImageFormula = PixelArea()
    page_tokens: float = 2_000.0
    """A page of a PDF has the tokens of its text and, for most models, of an image of it."""


class FileTokens(NamedTuple):
    images: float = 0.0
    pdfs: float = 0.0


def file_tokens(files: Iterable[FilePart], formulas: FileFormulas) -> FileTokens:
    images = pdfs = 0.0
    for file in files:
        if file.info is None or file.info.format.is_image:
            info = file.info
            width, height = (info and info.width) or _DEFAULT_SIDE, (info and info.height) or _DEFAULT_SIDE
            images += formulas.image.tokens(SentImage(width, height, file.detail))
        else:
            pdfs += formulas.page_tokens * ceil(file.info.size / _BYTES_PER_PAGE)
    return FileTokens(images, pdfs)
