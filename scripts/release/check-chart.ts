/**
 * `node scripts/release/check-chart.ts <folder>`: lints and renders the chart with Helm, which must be on PATH, and writes the
 * manifests into the folder. The release workflow runs it and checks them against the Kubernetes API with kubeconform.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const chart = fileURLToPath(new URL('../../deploy/helm', import.meta.url))
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node scripts/release/check-chart.ts <folder>')
mkdirSync(folder, { recursive: true })

const secret = '--set=existingSecret=stet'
const ingress = ['--set=ingress.enabled=true', '--set=ingress.className=nginx', '--set=ingress.tlsSecret=tls']

const scaled = render('scaled', secret)
const growing = render('autoscaling', secret, '--set=autoscaling.enabled=true')
const single = render('single', secret, '--set=mode=single')
const embedded = render(
  'embedded',
  '--set=mode=embedded,image.tag=edge,persistence.storageClassName=fast,tolerations[0].operator=Exists',
  '--set=image.pullSecrets[0].name=registry,nodeSelector.disk=ssd,podAnnotations.note=text',
)
const reached = render('ingress', secret, ...ingress, '--set=ingress.host=prompts.example.com,ingress.annotations.a=b')

expectKinds('scaled', scaled, 'ConfigMap Deployment PodDisruptionBudget Service')
expectKinds('autoscaling', growing, 'ConfigMap Deployment HorizontalPodAutoscaler PodDisruptionBudget Service')
expectKinds('single', single, 'ConfigMap Deployment Service')
expectKinds('embedded', embedded, 'ConfigMap Deployment PersistentVolumeClaim Service')
expectKinds('ingress', reached, 'ConfigMap Deployment Ingress PodDisruptionBudget Service')

expect(secretKeys(scaled) === 'DATABASE_URL STET_ENCRYPTION_KEY REDIS_URL', 'the secrets of scaled')
expect(secretKeys(single) === 'DATABASE_URL STET_ENCRYPTION_KEY', 'the secrets of single')
expect(/^ {2}replicas: 3$/m.test(scaled) && scaled.includes('maxUnavailable: 0'), 'the servers of scaled')
expect(!/^ {2}replicas:/m.test(growing), 'an upgrade keeps the number that the autoscaler chose')
// Otherwise, the new server of single waits forever for the old one.
expect(/^ {2}replicas: 1$/m.test(single) && single.includes('maxUnavailable: 1'), 'the server of single')
expect(/^ {2}replicas: 1$/m.test(embedded) && embedded.includes('type: Recreate'), 'the server of embedded')

// With a wrong number of proxies, clients choose their address themselves, or all of them share that of the ingress.
const trusting = render('trusting', secret, '--set-string=settings.STET_TRUST_PROXY=2')
for (const [manifests, proxies] of [
  [scaled, 0],
  [reached, 1],
  [trusting, 2],
] as const)
  expect(manifests.includes(`STET_TRUST_PROXY: "${proxies}"`), `STET_TRUST_PROXY is ${proxies}`)

// A stop takes 5 s until load balancers have noticed, the time for runs, and 20 s to close (docs/self-hosting.md).
const draining = render('draining', secret, '--set-string=settings.STET_DRAIN_SECONDS=3600')
for (const [manifests, drainSeconds] of [
  [scaled, 30],
  [draining, 3600],
] as const) {
  const [, seconds] = /terminationGracePeriodSeconds: (\d+)/.exec(manifests) ?? []
  expect(Number(seconds) >= 5 + drainSeconds + 20, `the grace period after ${drainSeconds} s of draining: ${seconds}`)
}

for (const refused of [[], ['--set=mode=single'], ['--set=mode=cluster', secret], [secret, ...ingress]])
  expect(helm('template', 'stet', chart, ...refused).status !== 0, `a refusal of ${refused}`)
console.log(`chart: rendered into ${folder}`)

function render(name: string, ...values: string[]): string {
  requireSuccess(name, helm('lint', '--strict', chart, ...values))
  const manifests = requireSuccess(name, helm('template', 'stet', chart, ...values))
  writeFileSync(join(String(folder), `${name}.yaml`), manifests)
  return manifests
}

function requireSuccess(name: string, { status, stdout, stderr }: ReturnType<typeof helm>): string {
  if (status !== 0) throw new Error(`chart: ${name}: ${stdout}${stderr}`)
  return stdout
}

function helm(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { error, ...ended } = spawnSync('helm', args, { encoding: 'utf8' })
  if (error) throw error
  return ended
}

function expectKinds(name: string, manifests: string, kinds: string): void {
  const found = [...manifests.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind).sort()
  expect(found.join(' ') === kinds, `${name} has ${kinds}; found ${found.join(' ')}`)
}

function secretKeys(manifests: string): string {
  return [...manifests.matchAll(/^ +key: ([A-Z_]+)$/gm)].map(([, key]) => key).join(' ')
}

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`chart: expected ${what}`)
}
