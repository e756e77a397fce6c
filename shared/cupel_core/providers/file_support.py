"""Models that take images and PDFs, by the limits of their API and the list of models. Unknown models may take them."""

from typing import NamedTuple

from cupel_core.domain.conversations.parts import LargestFiles
from cupel_core.domain.files.formats import FileFormat
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.providers import find_provider, is_claude, model_name_of, wire_format_of
from cupel_core.providers.model_metadata import metadata_of

_MB = 1024 * 1024


class _ApiLimits(NamedTuple):
    """The limits of an API in bytes of a file before it is encoded."""

    image_bytes: int | None = None
    pdf_bytes: int | None = None
    refused: frozenset[FileFormat] = frozenset()

    def max_bytes(self, file_format: FileFormat) -> int | None:
        return self.image_bytes if file_format.is_image else self.pdf_bytes


_LIMITS = {
    # 5 MB of base64, as its refusal says: "image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes".
    "anthropic": _ApiLimits(image_bytes=5 * _MB * 3 // 4),
    # The page of `Message` in Amazon Bedrock's API reference.
    "bedrock": _ApiLimits(image_bytes=3_932_160, pdf_bytes=4_718_592),
    # "Image understanding" of the Gemini API lists PNG, JPEG, WebP, HEIC and HEIF.
    "google": _ApiLimits(refused=frozenset({FileFormat.GIF})),
}
_ANY = _ApiLimits()
_DOCUMENTS_UNLISTED = frozenset({"mistral"})
"""Providers that read PDFs for all models, although the list of models does not say so."""


def agent_file_error(connector_type: ConnectorType, largest: LargestFiles) -> str | None:
    """Return why an agent cannot receive files like these. One with OpenAI's format may be any model."""
    if not largest or connector_type is ConnectorType.OPENAI:
        return None
    return f"is a connector of type {connector_type}, which takes text only, and a message has an image or a PDF"


def file_error(model: str, largest: LargestFiles) -> str | None:
    """Return why this model cannot receive files like these, or None if it can or is unknown."""
    provider = model.partition("/")[0]
    if find_provider(provider) is None or not model_name_of(model):
        return None  # Another check reports the unknown model.
    limits = _LIMITS.get(_wire_format(model), _ANY)
    for file_format, size in largest.items():
        most = limits.max_bytes(file_format)
        if file_format in limits.refused:
            return f"takes no {file_format.label} files, and a message has one"
        if most is not None and size > most:
            kind = "images" if file_format.is_image else "PDFs"
            return f"takes {kind} of at most {most:,} bytes, and a message has one of {size:,}"
    return _modality_error(model, provider, largest)


def _wire_format(model: str) -> str:
    wire_format = wire_format_of(model)
    if wire_format != "vertex":
        return wire_format
    return "anthropic" if is_claude(model_name_of(model)) else "google"


def _modality_error(model: str, provider: str, largest: LargestFiles) -> str | None:
    """Return the error by the list. It misses some image models that read PDFs, so only text models take no images."""
    known = metadata_of(model).input_modalities
    if known is None or provider in ("sim", "connector"):
        return None
    if any(each.is_image for each in largest) and not {"image", "video", "pdf"} & set(known):
        return "takes no images, and a message has one"
    if FileFormat.PDF in largest and "pdf" not in known and provider not in _DOCUMENTS_UNLISTED:
        return "takes no PDFs, and a message has one"
    return None
