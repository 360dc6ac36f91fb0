"""A lab behind nginx with TLS, and people in browser profiles of their own."""

import json
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

NGINX, OPENSSL = shutil.which("nginx"), shutil.which("openssl")
PASSWORD = "four words of hers"
DELAY = 40  # milliseconds that the network adds
_CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port} ssl; server_name lab.example;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    client_max_body_size 256m;
    location / {{
      proxy_pass http://127.0.0.1:{inner};
      proxy_set_header Host $host:{port};
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_request_buffering off; proxy_read_timeout 120s;
    }}
  }}
}}
"""


class Site:
    """The server of a lab, the proxy before it, and what the server prints."""

    def __init__(self, folder, port, inner):
        self.folder, self.port, self.inner = folder, port, inner
        self.place, self.url = folder / "lab", f"https://lab.example:{port}/"
        self.words = [
            "serve",
            str(self.place),
            "--port",
            str(inner),
            "--url",
            self.url,
            "--behind-proxy",
            "127.0.0.1",
        ]

    def start(self):
        """Start the server; return the lines that it prints first."""
        command = [sys.executable, "-m", "alignkit", *self.words]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        lines = [self.process.stderr.readline()]
        if not (self.place / "projects").exists() or not any((self.place / "projects").iterdir()):
            lines.append(self.process.stderr.readline())
        return lines

    def stop(self):
        """End the server as systemd does."""
        self.process.terminate()
        self.process.communicate(timeout=30)


@contextmanager
def site(folder, free_port):
    """Serve a new lab behind nginx; yield it with the link for the first owner."""
    if NGINX is None or OPENSSL is None:
        pytest.skip("needs nginx and openssl")
    port, inner = free_port(), free_port()
    subject = "/CN=lab.example"
    subprocess.run(
        [
            OPENSSL,
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            subject,
            "-keyout",
            str(folder / "key.pem"),
            "-out",
            str(folder / "cert.pem"),
        ],
        check=True,
        capture_output=True,
    )
    config = folder / "nginx.conf"
    config.write_text(_CONFIG.format(folder=folder, port=port, inner=inner))
    lab = Site(folder, port, inner)
    proxy = subprocess.Popen([NGINX, "-c", str(config)], stderr=subprocess.DEVNULL)
    try:
        lines = lab.start()
        yield lab, lines[1].split()[-1]
    finally:
        lab.stop()
        proxy.terminate()
        proxy.wait(20)


class Person:
    """Somebody with a browser profile."""

    def __init__(self, browser, lab, name):
        self.name, self.lab = name, lab
        self.context = browser.new_context(
            ignore_https_errors=True,
            viewport={"width": 1280, "height": 800},
            accept_downloads=True,
        )
        self.context.set_default_timeout(15_000)
        self.page = self.context.new_page()
        self.faults = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self._network = self.context.new_cdp_session(self.page)
        self._network.send("Network.enable")
        self.network()

    def network(self, *, offline=False):
        """Make the network of the page slow, or take it away."""
        rates = {"downloadThroughput": -1, "uploadThroughput": -1}
        more = {"offline": offline, "latency": DELAY, **rates}
        self._network.send("Network.emulateNetworkConditions", more)

    def go(self, path):
        """Open a page of the lab, and wait until it is drawn."""
        self.page.goto(self.lab.url + path)
        self.page.wait_for_load_state("networkidle")

    def join(self, link, name=""):
        """Use a link."""
        self.page.goto(link)
        if name:
            self.page.locator("#display").fill(name)
        self.page.locator("#password").fill(PASSWORD)
        self.page.locator("#again").fill(PASSWORD)
        self.page.locator("#go").click()
        self.page.wait_for_url(lambda url: "join" not in url)

    def take_over(self, page, name, other):
        """Sign in on a page of this profile, where somebody else is signed in."""
        page.goto(f"{self.lab.url}signin")
        page.get_by_label("Account name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name=f"Sign {other} out").click()
        page.wait_for_url(lambda url: "signin" not in url)

    def api(self, path, method="GET", body=None):
        """Ask the API as the page does; return status and body."""
        return self.page.evaluate(
            """async ([method, path, body]) => {
                const csrf = localStorage[`alignkit ${localStorage.alignkit}`];
                const headers = {"X-CSRF-Token": csrf};
                if (body) headers["Content-Type"] = "application/json";
                const options = {method, headers, body: body && JSON.stringify(body)};
                const reply = await fetch(`/api/v1/${path}`, options);
                const text = await reply.text();
                let value = text;
                try { value = JSON.parse(text); } catch { /* lines */ }
                return [reply.status, value];
            }""",
            [method, path, body],
        )


def write_corpus(folder):
    """Write two texts and their links, one of which points outside its sentence."""
    source = [f"the old house number {k} is empty today" for k in range(1, 25)]
    target = [f"das alte haus nummer {k} ist heute leer" for k in range(1, 25)]
    links = ["0-0 1-1 2-2 3-3 4-4 5-5 6-7 7-6"] * 23 + ["0-0 1-1 12-9"]
    for name, lines in (("news.en", source), ("news.de", target), ("auto.align", links)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(folder / name) for name in ("news.en", "news.de", "auto.align")]


def rows_of(path):
    """Return the pairs of a corpus in JSON lines."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if "source" in row]
