import { expect, test } from 'vitest'
import { commandTable } from '../src/commands/table.ts'
import { parseParameter, readParameters } from '../src/ui/parameters.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

// Nothing listens on this port, so a command line that sends a request exits with 9.
const nowhere = { STET_BASE_URL: 'http://127.0.0.1:1' }

test.each([
  [['nonsense'], 'Unknown command'],
  [['status', '--nope'], 'Unknown option'],
  [['run'], "Missing required argument 'path'"],
  [['run', 'a', 'b'], 'Too many arguments'],
  [['run', 'a', '-p', 'novalue'], 'name=value'],
  [['run', 'a', '-p', '=x'], 'name=value'],
  [['push', '--new', '--draft', 'x'], 'Use --draft or --new, not both'],
  ...[['a'], ['--new'], ['--publish'], ['--name', 'y'], ['--draft', 'y']].map((more): [string[], string] => [
    ['push', '--for', 'x', ...more],
    '--for sends the whole folder',
  ]),
  [['pull', '--theirs', '--ours'], 'Use --theirs or --ours, not both'],
  [['diff', '--base', '--against', 'live'], 'Use --base or --against, not both'],
  [['versions', 'list', '--status', 'old'], 'draft or merged'],
  [['versions', 'create'], "Missing required argument 'name'"],
  [['run', 'a', '--show', 'all'], '--show'],
  [['run', 'a', '--background', '--save', 'x.json'], '--background'],
  [['run', 'a', '--no-stream', '--tools', 'x.mjs'], 'Use --tools or --no-stream, not both'],
  [['chat'], 'Name a conversation, or a prompt to start one'],
  [['chat', '9f0d6c1e', '--prompt', 'a'], 'Name a conversation, or a prompt to start one'],
  [['chat', '9f0d6c1e', '-p', 'a=b'], 'Parameters need a prompt'],
  [['attach'], "Missing required argument 'conversation'"],
  [['attach', '9f0d6c1e', '--from', 'x'], '--from'],
  [['attach', '9f0d6c1e', '--from', '1', '--no-stream'], 'Use --from or --no-stream, not both'],
  [['bench'], "Missing required argument 'path'"],
  [['bench', 'a', '--concurrency', '0'], '--concurrency'],
  [['bench', 'a', '--runs', '1.5'], '--runs'],
  [['bench', 'a', '--warm-up', 'no'], '--warm-up'],
  [['bench', 'a', '--duration', '0s'], '--duration'],
  [['bench', 'a', '--duration', '8d'], '--duration'],
  [['bench', 'a', '-P', '1', '--server', 'nowhere'], 'Invalid URL'],
  [['stop'], "Missing required argument 'conversation'"],
  [['eval', 'show'], "Missing required argument 'experiment'"],
  [['eval', 'watch', '5b8f3c2a', '--nope'], 'Unknown option'],
  [['eval', 'a', '--detach', '--junit', 'x.xml'], 'Use --detach without --file, --gate and --junit'],
  [['eval', 'a', '--trials', '0'], '--trials'],
  [['eval', 'a', '--budget', 'free'], '--budget'],
  [['eval', 'a', '--arm', 'gpt-6-luna'], '--arm must be <setting>=<value>'],
  [['eval', 'a', '--arm', 'temperature=warm'], 'not "temperature=warm"'],
  [['eval', 'a', '--arm', 'model=x,color=red'], 'not "color=red"'],
  [['eval', '--file', 'missing.eval.mjs'], '--file: cannot import missing.eval.mjs'],
  [['annotate', '9f0d6c1e', 'good'], 'The score must be a number'],
  [['keys', 'create', 'a', '--scopes', 'read,all'], '--scopes'],
  [['keys', 'create', 'a'], '--role app|ci|ci-publish, or --scopes <list>'],
  [['keys', 'create', 'a', '--role', 'boss'], '--role'],
  [['keys', 'create', 'a', '--role', 'ci', '--scopes', 'read'], 'Use --role or --scopes, not both'],
  [['keys', 'create', 'a', '--role', 'ci', '--author', 'Ana'], '--author'],
  [['keys', 'create', 'a', '--role', 'ci', '--author', 'Ana <ana@b@c>'], '--author'],
  [['keys', 'create', 'a', '--role', 'ci', '--expires', 'soon'], '--expires'],
  [['keys', 'create', 'a', '--plan', 'free'], '--plan'],
  [['keys', 'create', 'a', '--plan', 'custom'], '--limit'],
  [['keys', 'create', 'a', '--only-project', '0'], '--only-project'],
  [['keys', 'rotate', '1', '--overlap', '1y'], '--overlap'],
  [['providers', 'add', 'a'], '--type'],
  [['providers', 'add', 'a', '--type', 'openai', '--configuration', '[]'], '--configuration'],
  [['providers', 'update', 'a'], 'Nothing to change'],
  [['conversations', 'get', 'a', '--format', 'pdf'], '--format'],
  [['conversations', 'list', '--status', 'old'], '--status'],
  [['conversations', 'list', '--limit', '0'], '--limit'],
  [['conversations', 'list', '--since', 'today'], '--since'],
  [['logs', 'create', 'a'], '--messages'],
  [
    ['logs', 'create', 'a', '--messages', 'x', '--response', 'y', '--response-file', 'z'],
    'Use --response or --response-file, not both',
  ],
  [['evaluations', 'create', 'a'], '--metric'],
  [['evaluations', 'create', 'a', '--metric', 'stars'], '--metric'],
  [['evaluations', 'create', 'a', '--check', 'exact', '--judge', 'b'], 'Use one of --metric, --check and --judge'],
  [['evaluations', 'create', 'a', '--check', 'exact', '--min', '1'], 'Use one of --metric, --check and --judge'],
  [['evaluations', 'create', 'a', '--check', 'regex'], '--check cannot be "regex"'],
  [['evaluations', 'create', 'a', '--check', 'cost=free'], '--check must be a number'],
  [['evaluations', 'create', 'a', '--check', '{"type":'], '--check is not JSON'],
  [['evaluations', 'create', 'a', '--metric', 'binary', '--min', '1'], '--min needs --metric rating'],
  [['evaluations', 'create', 'a', '--metric', 'rating', '--max', 'x'], '--max'],
  [['rollback', '-P', 'x'], '--project'],
  [['import'], "Missing required argument 'kind'"],
  [['import', 'notion', 'x'], 'Unknown source'],
  [['import', 'latitude', 'https://example.com/api/v3/projects/1'], '--source-key-stdin'],
  [['export'], '--out'],
  [['completion', 'csh'], 'Unknown shell'],
  [['types', 'generate'], 'No project'],
  [['serve', '--port', '99999'], '--port'],
  [['status', '-P', 'x'], '--project'],
  [['status', '--timeout', '0'], '--timeout'],
  [['status', '--profile', '../x'], '--profile'],
  [['status', '--base-url', 'nowhere'], 'Invalid URL'],
  [['status'], 'No project'],
  [['status', '-P', '1', '--env-file', 'missing'], '--env-file'],
])('%j is a usage error, as text and as JSON', async (argv, text) => {
  const cwd = await temporaryFolder()
  const said = await runInProcess(argv, { cwd })
  expect(said).toMatchObject({ code: 2, stdout: '' })
  expect(said.stderr).toContain(text)
  const asJson = await runInProcess([...argv, '--json'], { cwd })
  expect(asJson).toMatchObject({ code: 2, stdout: '' })
  expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { code: 'usage', exitCode: 2 } })
})

test.each(Object.keys(commandTable))('%s has help with examples, which opens no connection or file', async (name) => {
  const help = await runInProcess([...name.split(' '), '--help'], { cwd: '/nonexistent' })
  expect(help).toMatchObject({ code: 0, stderr: '' })
  expect(help.stdout).toContain(`Examples:\n  stet ${name}`)
})

test('help works as a command', async () => {
  for (const argv of [['help'], ['help', 'push'], ['help', 'keys', 'create']]) {
    const asWord = await runInProcess(argv, { cwd: '/nonexistent' })
    expect(asWord).toEqual(await runInProcess([...argv.slice(1), '--help'], { cwd: '/nonexistent' }))
    expect(asWord).toMatchObject({ code: 0, stderr: '' })
  }
})

test.each([
  [['login'], 2, '--api-key-stdin'],
  [['whoami'], 4, 'No API key'],
  [['versions', 'list', '-P', '1'], 4, 'No API key'],
])('%j without a key and a terminal does not wait for input', async (argv, code, text) => {
  const ended = await runInProcess(argv, { cwd: await temporaryFolder(), env: nowhere })
  expect(ended.code).toBe(code)
  expect(ended.stderr).toContain(text)
})

test('a malformed key is refused before any request, and not printed', async () => {
  const readStdin = async () => new TextEncoder().encode('stet_notakey\n')
  const { code, stderr } = await runInProcess(['login', '--api-key-stdin'], {
    cwd: await temporaryFolder(),
    env: nowhere,
    readStdin,
  })
  expect(code).toBe(4)
  expect(stderr).not.toContain('notakey')
})

test('--version works after other flags, and a missing folder is named', async () => {
  const cwd = await temporaryFolder()
  expect(await runInProcess(['-q', '--version'], { cwd })).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' })
  const gone = await runInProcess(['-C', 'gone', 'status'], { cwd })
  expect(gone).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(`Folder not found: ${cwd}/gone`) })
})

test('global flags work before and after the command', async () => {
  const cwd = await temporaryFolder()
  for (const argv of [
    ['--project', 'x', 'status'],
    ['status', '--project', 'x'],
  ]) {
    expect((await runInProcess(argv, { cwd })).stderr).toContain('--project: the project must be a positive integer')
  }
})

test.each([
  ['a=b', { name: 'a', kind: 'text', value: 'b' }],
  ['a=', { name: 'a', kind: 'text', value: '' }],
  ['a=b=c', { name: 'a', kind: 'text', value: 'b=c' }],
  ['a=1', { name: 'a', kind: 'text', value: '1' }],
  ['a=x:=y', { name: 'a', kind: 'text', value: 'x:=y' }],
  ['a=two\nlines', { name: 'a', kind: 'text', value: 'two\nlines' }],
  ['a=@file.txt', { name: 'a', kind: 'file', value: 'file.txt' }],
  ['a:={"b":1}', { name: 'a', kind: 'json', value: '{"b":1}' }],
  ['a:="@x"', { name: 'a', kind: 'json', value: '"@x"' }],
])('-p %s', (text, expected) => {
  expect(parseParameter(text)).toEqual(expected)
})

test('parameters: text stays text, JSON keeps its type, and a missing file is a usage error', async () => {
  const cwd = await temporaryFolder()
  const values = await readParameters(['n=1', 'm:=1', 'flag:=true'].map(parseParameter), cwd)
  expect(values).toEqual({ n: '1', m: 1, flag: true })
  await expect(readParameters([parseParameter('a=@gone')], cwd)).rejects.toMatchObject({ code: 'usage' })
  await expect(readParameters([parseParameter('a:=nope')], cwd)).rejects.toMatchObject({ code: 'usage' })
})

test('a choice off a terminal mentions each value once', async () => {
  const env = { ...nowhere, STET_API_KEY: 'stet_x' }
  const { code, stderr } = await runInProcess(['keys', 'create', 'a'], { cwd: await temporaryFolder(), env })
  expect(code).toBe(2)
  expect(stderr).toContain('\n  app: read, run\n  ci: read, write\n  ci-publish: read, write, publish\n')
})
