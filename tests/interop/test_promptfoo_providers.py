"""Every provider of the real promptfoo is known to the import."""

from cupel_core.interop.imports.promptfoo.provider_services import REFUSED, SERVICES, SYNONYMS
from tests.interop import tools


def test_every_service_is_converted_or_refused_with_a_reason_of_its_own() -> None:
    services = tools.promptfoo_services()
    assert len(services) > 80
    assert services - {*SERVICES, *REFUSED, *SYNONYMS, "echo", "file"} == set()
