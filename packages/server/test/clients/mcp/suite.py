"""The MCP client for Python in both of its modes. Prints one line for each check."""
import asyncio
import os

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

url = os.environ["STET_BASE_URL"] + "/mcp"
headers = {"Authorization": "Bearer " + os.environ["STET_API_KEY"]}


async def check(mode):
    http = create_mcp_http_client(headers=headers)
    seen = []

    async def progress(*given):
        seen.append(given[0])

    async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        assert (await client.list_tools()).tools
        assert (await client.get_prompt("support/reply", {"ticket": "T"})).messages
        result = await client.call_tool("support__reply", {"ticket": "T"}, progress_callback=progress)
        assert result.structured_content == {"answer": "Yes"}
        assert seen


for each in ("auto", "legacy"):
    try:
        asyncio.run(check(each))
        print("ok", each)
    except BaseException as error:
        print("FAIL", each, repr(error)[:300])
