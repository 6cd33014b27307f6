/** The recipes of docs/evals.md for the libraries of others, as they stand there, with the provider `demo`. */
import { spawn } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tally } from '../../../../scripts/tally.ts'
import { projectWith, server } from '../support/shared-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const page = await readFile(new URL('../../../../docs/evals.md', import.meta.url), 'utf8')

/** The block of the page after `<!-- run: name -->`, or after `<!-- walk: name -->`. */
function block(name: string): string {
  const found = page.split(/^<!-- (?:run|walk): /m).find((part) => part.startsWith(`${name} -->\n`))
  const [, code] = /^.*\n```\w*\n([\s\S]*?)^```$/m.exec(found ?? '') ?? []
  if (code === undefined) throw new Error(`docs/evals.md has no block ${name}`)
  return code
}

const require = createRequire(import.meta.url)

/** A folder with the files of the page and with the packages that they import, as npm installs them. */
async function folderWith(files: readonly string[], packages: readonly string[]): Promise<string> {
  const folder = await temporaryFolder()
  for (const name of packages) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(await packageFolder(name), link)
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  for (const file of files) await writeFile(join(folder, file), block(`file ${file}`))
  return folder
}

/** The entry of a package is somewhere below its folder. */
async function packageFolder(name: string): Promise<string> {
  let folder = dirname(require.resolve(name))
  while (!(await readFile(join(folder, 'package.json'), 'utf8').catch(() => '')).includes(`"name": "${name}"`)) {
    folder = dirname(folder)
  }
  return folder
}

async function ended(args: readonly string[], cwd: string, env: Record<string, string>) {
  tally('child process')
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } })
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}

test('the harness for vitest-evals runs a prompt', async () => {
  const { id } = await projectWith({ 'support/refund': block('file prompts/support/refund.promptl') })
  const folder = await folderWith(['refund.test.ts'], ['@stet/sdk', 'vitest', 'vitest-evals'])
  const bin = join(await packageFolder('vitest'), 'vitest.mjs')
  const env = { STET_BASE_URL: server.address, STET_API_KEY: server.adminKey, STET_PROJECT_ID: String(id), VITEST: '' }
  const { code, stdout } = await ended([bin, 'run', '--reporter', 'json'], folder, env)
  const report = JSON.parse(stdout)
  expect({ code, passed: report.numPassedTests, total: report.numTotalTests }).toEqual({ code: 0, passed: 1, total: 1 })
})

// Node imports TypeScript from 22.18 on.
test.runIf('typescript' in process.features && process.features.typescript)(
  'eval files in TypeScript score answers, with a scorer of autoevals too',
  async () => {
    const text = block('file prompts/support/refund.promptl')
    const { client, id } = await projectWith({ 'support/refund': text })
    const { documentUuid } = await client.prompts.get('support/refund')
    await client.examples.create({ documentUuid, name: 'one', parameters: { question: 'Where?' }, expected: 'Where?' })
    const draft = await client.versions.create('draft')
    const content = text.replace('5 days', '14 days')
    await client.versions.push(draft.uuid, [{ path: 'support/refund', content, status: 'modified' }])
    const files = ['refund.eval.ts', 'similar.eval.ts']
    const folder = await folderWith(files, ['@stet/sdk', 'autoevals'])
    const bin = fileURLToPath(new URL('../../bin/stet.mjs', import.meta.url))
    const env = {
      STET_BASE_URL: server.address,
      STET_API_KEY: server.adminKey,
      STET_PROJECT_ID: String(id),
      HOME: folder,
    }
    const named = files.flatMap((file) => ['--file', file])
    const { code, stdout } = await ended([bin, 'eval', ...named, '--json'], folder, env)
    const { results } = JSON.parse(stdout)
    const scorers = results[0].report.evaluations.filter(({ type }: { type: string }) => type === 'code')
    expect(code).toBe(0)
    expect(scorers.map(({ name }: { name: string }) => name).sort()).toEqual([
      'refund.eval.ts:isShort',
      'refund.eval.ts:quotesQuestion',
      'similar.eval.ts:similar',
    ])

    // As Node 20 does it.
    const untyped = await ended(['--no-experimental-strip-types', bin, 'eval', '--file', 'refund.eval.ts'], folder, env)
    expect(untyped).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /cannot import refund\.eval\.ts\n.*use Node 22\.18 or later, or install tsx.*refund\.eval\.mjs\n/,
      ),
    })
  },
)
