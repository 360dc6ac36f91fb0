"""The files of a lab in containers are linted, and each of alignkit's commands in them works."""

import configparser
import http.client
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from command import process, start
from console import ROOT, page_text

from alignkit.version import __version__

pytest.importorskip("sqlalchemy")

from postgres_server import _BIN, server

from alignkit.cli.annotate.serve import _checked
from alignkit.cli.commands import parser_of

FOLDER = ROOT / "docs" / "lab"
DOCKERFILE = (FOLDER / "Dockerfile").read_text("utf-8")
COMPOSE = (FOLDER / "compose.yaml").read_text("utf-8")
HOST = "align.lab.example"
HADOLINT = shutil.which("hadolint") or shutil.which("hadolint", path=Path(sys.executable).parent)


@pytest.fixture(scope="module")
def services():
    """The services of the compose file, with a host in place of the variable."""
    yaml = pytest.importorskip("yaml", reason="needs PyYAML (extra: docs)")
    return yaml.safe_load(COMPOSE.replace("${LAB_HOST:?}", HOST))["services"]


@pytest.fixture(scope="module")
def served(services):
    """The words of the command that serves the lab."""
    return shlex.split(services["alignkit"]["command"])


def option(words, flag):
    return words[words.index(flag) + 1]


def test_hadolint_has_nothing_to_say():
    if HADOLINT is None:
        pytest.skip("needs hadolint (extra: docs)")
    ran = subprocess.run(
        [HADOLINT, FOLDER / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "")


def test_the_image_installs_this_version_with_extras_that_exist():
    extras, major = re.findall(r"'alignkit\[([\w,]+)\]~=(\d+)\.0'", DOCKERFILE)[0]
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    assert set(extras.split(",")) <= set(config["options.extras_require"])
    assert major == __version__.partition(".")[0]


def test_the_image_runs_commands_of_alignkit():
    commands = re.findall(r"^RUN alignkit (.+)$", DOCKERFILE, re.MULTILINE)
    assert commands == ["compile --quiet"]
    for words in map(shlex.split, commands):
        assert parser_of(words).parse_args(words).command == "compile"
    assert 'ENTRYPOINT ["alignkit"]' in DOCKERFILE


def test_the_server_may_listen_beyond_its_container_and_trusts_caddy_alone(services, served):
    options = parser_of(served).parse_args(served)
    assert _checked(options) == "0.0.0.0"
    caddy = services["caddy"]
    assert options.behind_proxy == [caddy["networks"]["web"]["ipv4_address"]]
    assert caddy["command"] == f"caddy reverse-proxy --from {HOST} --to alignkit:{options.port}"
    assert options.url == f"https://{HOST}"


def test_only_caddy_is_reached_from_outside(services):
    assert [name for name, service in services.items() if "ports" in service] == ["caddy"]
    shared = {name: set(service["networks"]) for name, service in services.items()}
    assert not shared["caddy"] & shared["postgres"]
    postgres = services["postgres"]["environment"]["POSTGRES_USER"]
    assert f"postgresql+psycopg://{postgres}@postgres/{postgres}" in COMPOSE


def test_the_page_of_the_lab_names_commands_that_exist(served):
    page = page_text("lab.md").partition("\n## In containers")[2].partition("\n## ")[0]
    (words,) = map(shlex.split, re.findall(r"run --rm alignkit (.+?)`", page))
    options = parser_of(words).parse_args(words)
    assert options.owner_link
    assert options.place == parser_of(served).parse_args(served).place
    assert set(re.findall(r"^echo \"(\w+)=", page, re.MULTILINE)) == set(
        re.findall(r"\$\{(\w+)", COMPOSE)
    )


@pytest.mark.slow
def test_the_command_serves_a_lab_in_postgresql_behind_a_proxy(served, tmp_path):
    running = server()
    ready = ["pg_isready", "-h", running.folder, "-U", "me", "-d", "postgres"]
    subprocess.run([_BIN / ready[0], *ready[1:]], check=True, capture_output=True)
    words = " ".join(served)
    port = free_port()
    for here, there in (
        (running.url, option(served, "serve")),
        ("127.0.0.1", option(served, "--host")),
        (f"127.0.0.1 --port {port}", option(served, "--behind-proxy")),
    ):
        words = words.replace(there, here)
    lab = start(*shlex.split(words), env=os.environ | {"XDG_DATA_HOME": str(tmp_path)})
    try:
        assert f"is at https://{HOST}/" in lab.stderr.readline()
        assert f"Create the first owner: https://{HOST}/join#" in lab.stderr.readline()
        assert get(port) == 200
        assert get(port, host="other.example") != 200
    finally:
        lab.terminate()
        lab.communicate(timeout=30)
    asked = process("serve", running.url, "--url", f"https://{HOST}", "--owner-link")
    assert f"https://{HOST}/join#" in asked.out, asked.err


def get(port, host=HOST):
    """Return the status of the first page, asked for as Caddy asks."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Host": host, "X-Forwarded-For": "10.1.2.3", "X-Forwarded-Proto": "https"}
    connection.request("GET", "/", headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
