"""A certificate of one's own, for this machine and a day."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kit.waiting import HANG_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

PEM = serialization.Encoding.PEM


def write_certificate(folder: Path, lock: bytes | None = None, serial: int = 1) -> tuple[Path, Path]:
    """The files of the certificate and of its key; with `lock` the key has that password."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = (
        made.serial_number(serial).not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))
    )
    made = made.add_extension(names, critical=False)
    hidden = serialization.NoEncryption() if lock is None else serialization.BestAvailableEncryption(lock)
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(PEM))
    files[1].write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, hidden))
    return files


def is_trusted(port: int, context: ssl.SSLContext) -> bool:
    """Whether the certificate of a server on this machine is one that a context trusts."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=HANG_SECONDS) as plain:
            context.wrap_socket(plain, server_hostname="localhost").close()
    except ssl.SSLCertVerificationError:
        return False
    return True
