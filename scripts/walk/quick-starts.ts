/** Walks the quick starts in `docs/start` and of MCP, with the server and the prompts of the README's first minute. */
import { join } from 'node:path'
import { run, say } from './commands.ts'
import { openDocument } from './document.ts'

interface QuickStart {
  page: string
  /** The file that the reader saves. */
  file?: string
  /** The executed blocks, in order. */
  blocks: readonly string[]
  /** Texts that the commands must print, among others. */
  printed: readonly string[]
}

const quickStarts: readonly QuickStart[] = [
  {
    page: 'start/application',
    file: 'support.mjs',
    blocks: ['key', 'run', 'curl'],
    printed: ['The export is empty.', 'And in French?', 'unknown-document: support/reply', '"conversation"'],
  },
  {
    page: 'start/operate',
    blocks: ['login', 'check', 'keys', 'providers'],
    printed: ['{"status":"ready"}', 'stet_http_requests_total{', 'deploy', 'demo'],
  },
  {
    page: 'start/prompts',
    file: 'prompts/letters/welcome.promptl',
    blocks: ['init', 'draft', 'publish', 'change', 'rollback'],
    printed: ['Welcome Ana in two sentences.', '+<user>Welcome {{ name }} in one sentence.</user>'],
  },
  {
    page: 'start/openai-clients',
    blocks: ['key', 'curl'],
    printed: ['"id":"support/reply"', '"object":"chat.completion"', 'The export is empty.'],
  },
  {
    page: 'mcp',
    blocks: ['key', 'curl'],
    printed: ['"name":"stet_run_prompt"', '"name":"stet_write_prompt"'],
  },
  {
    page: 'start/from-latitude',
    file: 'old/support/reply.promptl',
    blocks: ['init', 'import'],
    printed: ['written\tprompts/support/reply.promptl'],
  },
  {
    page: 'start/from-langfuse',
    file: 'prompts.json',
    blocks: ['init', 'import'],
    printed: ['to write\tprompts/tone.promptl', 'Where is my order?'],
  },
  {
    page: 'start/from-openai',
    file: 'prompts.json',
    blocks: ['init', 'import'],
    printed: ['written\tprompts/pmpt_support.promptl', 'Where is my order?'],
  },
]

/** @param clone has a server at `address`, with its data in `.stet` */
export async function walkQuickStarts(clone: string, address: string): Promise<void> {
  for (const { page, file, blocks, printed } of quickStarts) {
    const name = `docs/${page}.md`
    const document = openDocument(clone, name)
    const folder = blocks.includes('init') ? await makeFolder(document.commands('folder'), clone) : clone
    if (file !== undefined) document.write(file, folder)
    let said = ''
    for (const command of blocks.flatMap((block) => document.commands(block)))
      said += await run(command, folder, { STET_BASE_URL: address })
    for (const text of printed) if (!said.includes(text)) throw new Error(`${name} did not print: ${text}`)
    say(name)
  }
}

/** The command ends with `cd <folder>`, which affects only the reader's shell. */
export async function makeFolder([command = '']: readonly string[], clone: string): Promise<string> {
  await run(command, clone, {})
  const [, name] = /&& cd (\S+)$/.exec(command) ?? []
  if (name === undefined) throw new Error(`names no folder: ${command}`)
  return join(clone, name)
}
