"""A session in which no test passed is no success: workers that die before they have collected leave nothing behind."""

import pytest


def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    alone = not hasattr(session.config, "workerinput")
    collecting = session.config.option.collectonly
    if alone and reporter is not None and exitstatus == 0 and not collecting and not reporter.stats.get("passed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
