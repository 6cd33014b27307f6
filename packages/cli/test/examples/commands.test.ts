import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExampleChange, Stet } from '@stet/sdk'
import { beforeAll, expect, test } from 'vitest'
import { inBatches, sendRows } from '../../src/commands/examples/rows/send-rows.ts'
import { projectWith, server } from '../support/shared-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runInProcess } from '../support/test-io.ts'

let client: Stet
let projectId: number
let cwd: string
beforeAll(async () => {
  const prompts = { refund: 'Refund {{ ticket }}', copy: 'Copy {{ ticket }}', full: 'Full' }
  ;({ client, id: projectId } = await projectWith(prompts))
  cwd = await temporaryFolder()
})

async function stet(...argv: string[]) {
  const env = { STET_BASE_URL: server.address, STET_API_KEY: server.adminKey, STET_PROJECT_ID: String(projectId) }
  return runInProcess(['examples', ...argv], { cwd, env })
}

async function imported(...argv: string[]) {
  const { code, stdout, stderr } = await stet('import', ...argv, '--json')
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as Record<string, unknown>
}

const rowsOf = async (path: string) => {
  const { documentUuid } = await client.prompts.get(path)
  return client.examples.list(documentUuid, { projectId })
}

const write = (name: string, content: string) => writeFile(join(cwd, name), content)

test('an import adds rows, repeating it changes nothing, and an import of an export is identical', async () => {
  await write('rows.csv', 'ticket,expected,tags\nWhere is it?,On its way.,must\nBroken,,\n')
  expect(await imported('rows.csv', 'refund', '--dry-run')).toMatchObject({ added: 2, unchanged: 0 })
  expect(await rowsOf('refund')).toEqual([])
  await write('typo.csv', 'ticket,expectd\nWhere is it?,On its way.\n')
  const warned = await stet('import', 'typo.csv', 'refund', '--dry-run')
  expect(warned).toMatchObject({ code: 0 })
  expect(warned.stderr.split('\n').filter((line) => line.includes('is not a parameter'))).toEqual([
    expect.stringMatching(/column expectd is not a parameter of refund; /),
  ])
  await write('wide.csv', 'ticket,a,b,c,d,e,f\n1,2,3,4,5,6,7\n')
  const wide = await stet('import', 'wide.csv', 'refund', '--dry-run')
  expect(wide.stderr).toContain('6 columns are not parameters of refund; ')
  const { uuid } = await client.versions.create('broken')
  await client.versions.push(uuid, [{ path: 'refund', content: '{{ if }}', status: 'modified' }])
  const broken = await stet('import', 'typo.csv', 'refund', '--dry-run', '--version-uuid', uuid)
  expect(broken).toMatchObject({ code: 0, stderr: expect.not.stringContaining('is not a parameter') })
  expect(await imported('rows.csv', 'refund')).toMatchObject({ added: 2, modified: 0, unchanged: 0, deleted: 0 })
  expect(await imported('rows.csv', 'refund')).toMatchObject({ added: 0, modified: 0, unchanged: 2, deleted: 0 })
  const rows = await rowsOf('refund')
  expect(rows).toMatchObject([
    { expected: 'On its way.', tags: ['must'] },
    { parameters: { ticket: 'Broken' }, expected: null },
  ])
  const full: ExampleChange = {
    name: 'all fields',
    parameters: { z: 1, a: { n: null } },
    messages: [{ role: 'user', content: 'x' }],
    expected: { z: [1.5], a: 'é' },
    checks: [{ type: 'regex', pattern: '^a', negate: true }],
    toolResults: { find: [{ args: { b: 1, a: 2 }, result: null }] },
    tags: ['b', 'a'],
  }
  await client.examples.batch({ documentUuid: rows[0]?.documentUuid ?? '', changes: [full] }, { projectId })
  const { stdout } = await stet('export', 'refund')
  await write('rows.jsonl', stdout)
  expect(await imported('rows.jsonl', 'refund', '--dry-run')).toMatchObject({ added: 0, modified: 0, unchanged: 3 })
  expect(await imported('rows.jsonl', 'refund')).toMatchObject({ unchanged: 3 })
  expect(await imported('rows.jsonl', 'copy')).toMatchObject({ added: 3 })
  expect((await stet('export', 'copy', '--out', 'copy.jsonl')).code).toBe(0)
  expect(await readFile(join(cwd, 'copy.jsonl'), 'utf8')).toBe(stdout)
  const values = ({ name, parameters, messages, expected, checks, toolResults, tags }: Record<string, unknown>) =>
    JSON.stringify([name, parameters, messages, expected, checks, toolResults, tags])
  expect((await rowsOf('copy')).map((row) => values({ ...row }))).toEqual(
    (await rowsOf('refund')).map((row) => values({ ...row })),
  )
})

test('a CSV file changes only its own fields, and --sync deletes what the file lacks', async () => {
  const before = await rowsOf('refund')
  await write('names.csv', `name,ticket\n${before[1]?.name},Broken again\n`)
  expect(await imported('names.csv', 'refund')).toMatchObject({ modified: 1, deleted: 0 })
  await client.examples.update(before[1]?.uuid ?? '', { expected: 'Sorry.' }, { projectId })
  expect(await imported('names.csv', 'refund')).toMatchObject({ unchanged: 1 })
  const others = [before[0]?.name, 'all fields']
  expect(await imported('names.csv', 'refund', '--sync', '--dry-run')).toMatchObject({ deleted: 2, left: others })
  const { stderr } = await stet('import', 'names.csv', 'refund', '--sync')
  expect(stderr).toContain('deletes all fields')
  expect(await rowsOf('refund')).toMatchObject([{ parameters: { ticket: 'Broken again' }, expected: 'Sorry.' }])
  expect((await stet('list', 'refund')).stdout).toMatch(/^Broken · \w{8}\tanswer\t\t\t/)
})

test('a refusal names the file and the line, and imports nothing', async () => {
  await write(
    'bad.jsonl',
    '{"name":"a","parameters":{}}\n{"name":"b","parameters":{},"checks":[{"type":"regex","pattern":"("}]}\n',
  )
  const { code, stderr } = await stet('import', 'bad.jsonl', 'copy')
  expect(code).toBe(7)
  expect(stderr).toMatch(/bad\.jsonl:2: checks\.0\.pattern .*Nothing was imported/)
  await write('latin.csv', '')
  await writeFile(join(cwd, 'latin.csv'), Buffer.from('a\nx\n\xe9\n', 'latin1'))
  expect((await stet('import', 'latin.csv', 'copy')).stderr).toContain('latin.csv:3: the file is not UTF-8')
  for (const [argv, code] of [
    [['none.csv', 'copy'], 3 + 2],
    [['rows.txt', 'copy'], 2],
    [['rows.jsonl', 'copy', '--types', 'a:number'], 2],
    [['rows.csv', 'copy', '--types', 'a:date'], 2],
  ] as const)
    expect((await stet('import', ...argv)).code, argv.join(' ')).toBe(code)
  await write('many.csv', `a\n${'x\n'.repeat(1001)}`)
  expect((await stet('import', 'many.csv', 'copy')).stderr).toContain(
    'many.csv:1002: a prompt has at most 1000 examples',
  )
  await writeFile(join(cwd, 'wide.csv'), Buffer.from('\ufeffticket\nWide\n', 'utf16le'))
  expect(await imported('wide.csv', 'copy', '--dry-run')).toMatchObject({ added: 1 })
})

test('many rows are sent in batches, and a failure says how many are imported', async () => {
  const { documentUuid } = await client.prompts.get('full')
  const row = (number: number, parameters: Record<string, unknown> = {}) => ({
    ...{ file: 'rows.csv', line: number + 2, name: `row ${number}` },
    change: { parameters },
  })
  const rows = Array.from({ length: 250 }, (_, number) => row(number))
  expect(inBatches(rows).map(({ length }) => length)).toEqual([200, 50])
  const large = [row(0, { a: 'x'.repeat(600_000) }), row(1, { a: 'x'.repeat(600_000) }), row(2)]
  expect(inBatches(large).map(({ length }) => length)).toEqual([1, 2])
  expect(inBatches([row(0, { a: Array(30_000).fill(0) }), row(1, { a: Array(30_000).fill(0) })])).toHaveLength(2)
  const target = { client, projectId, documentUuid }
  const refused = [...rows, { ...row(250), change: { tags: [''] } }]
  const failure = await sendRows(target, refused, { deleted: [], deletesFirst: false }).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^rows\.csv:252: tags\.0 .*\. 200 of 251 rows are imported, up to line 201$/),
    hint: expect.stringContaining('run the command again'),
  })
  expect(await sendRows(target, rows, { deleted: [], deletesFirst: false })).toEqual({
    ...{ added: 50, modified: 0, unchanged: 200, deleted: 0 },
  })
})
