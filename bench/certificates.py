"""Makes a certificate for the loopback interface, so that calls over TLS can be measured without a provider."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

_KEY_BITS = 2_048
_ADDRESS = "127.0.0.1"


def write_certificate(path: Path) -> None:
    """Write a certificate that signs itself, valid for one day, and its key as PEM."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=_KEY_BITS)
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _ADDRESS)]), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(_ADDRESS))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
