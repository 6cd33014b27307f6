/** Installs from tarballs, as docs/self-hosting.md and the hint of `stet serve` describe until the first release. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { run, say, withServer } from '../walk/commands.ts'
import { openDocument } from '../walk/document.ts'
import { userEnvironment } from './new-user.ts'
import { root } from './packages.ts'
import type { Registry } from './registry.ts'

export async function walkTarballs(folder: string, registry: Registry): Promise<void> {
  const document = openDocument(root, 'docs/self-hosting.md')
  const [pack = '', ...commands] = document.commands('tarballs')
  if (!pack.endsWith('release:pack')) throw new Error(`docs/self-hosting.md begins with ${pack}`)
  const clone = join(folder, 'stet')
  mkdirSync(clone)
  symlinkSync(join(root, 'release'), join(clone, 'release'))
  const serve = commands.pop() ?? ''
  for (const command of commands) await run(command, clone, userEnvironment())
  await withServer(serve, join(folder, 'my-stet'), async () => undefined, userEnvironment())
  await followHint(folder, clone, registry)
  say('tarballs')
}

/** Without the server package, `serve` must name a command that installs it. */
async function followHint(folder: string, clone: string, registry: Registry): Promise<void> {
  const user = join(folder, 'hint')
  mkdirSync(user)
  registry.useIn(user)
  await run('npm install --no-audit --no-fund @stet/cli', user, userEnvironment())
  const env = { ...process.env, ...userEnvironment() }
  const refused = spawnSync('npx', ['stet', 'serve'], { cwd: user, env, encoding: 'utf8' })
  const [, command] = /Here, run (npm install \S+)/.exec(refused.stderr) ?? []
  if (refused.status !== 1 || command === undefined) throw new Error(`serve without a server said ${refused.stderr}`)
  await run(command.replace('<clone>', clone), user, userEnvironment())
  await withServer('npx stet serve', user, async () => undefined, userEnvironment())
}
