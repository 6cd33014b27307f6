/** Upgrades an installation of the previous release, and checks that its data is kept. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, say, withServer } from '../walk/commands.ts'
import { at, PROMPT, publishPrompt, runApplication, runPrompt, userEnvironment } from './new-user.ts'

/** `before` and `after` are the install commands of the two releases. `version` is that of the second. */
export async function walkUpgrade(
  folder: string,
  { before, after, version }: { before: string; after: string; version: string },
): Promise<void> {
  mkdirSync(join(folder, 'prompts', 'support'), { recursive: true })
  writeFileSync(join(folder, 'prompts', 'support', 'reply.promptl'), PROMPT)
  let conversation = ''
  let told = ''
  let port = '0'
  await run(before, folder, userEnvironment())
  await withServer(
    'npx stet serve',
    folder,
    async (address) => {
      port = new URL(address).port
      if ((await serverVersion(address)) === version) throw new Error('the server before the upgrade is not older')
      await publishPrompt(folder, address)
      conversation = await runPrompt(folder, address)
      told = await show(folder, address, conversation)
    },
    userEnvironment(),
  )
  await run(after, folder, userEnvironment())
  await withServer(
    'npx stet serve',
    folder,
    async (address) => {
      const found = await serverVersion(address)
      if (found !== version) throw new Error(`the upgraded server is ${found}`)
      const printed = (await run('npx stet --version', folder, userEnvironment())).trim()
      if (printed !== version) throw new Error(`the upgraded command line is ${printed}`)
      await run('npx stet status --check', folder, at(address))
      const kept = await show(folder, address, conversation)
      if (kept !== told) throw new Error(`the conversation was\n${told}\nand is\n${kept}`)
      await runApplication(folder, address)
    },
    { ...userEnvironment(), PORT: port },
  )
  say('upgrade')
}

function show(folder: string, address: string, conversation: string): Promise<string> {
  return run(`npx stet conversations get ${conversation} --json`, folder, at(address))
}

async function serverVersion(address: string): Promise<unknown> {
  const response = await fetch(`${address}/health`)
  const { version } = (await response.json()) as { version?: unknown }
  return version
}
