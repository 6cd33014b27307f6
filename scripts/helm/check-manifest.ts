/**
 * Checks manifests against the Kubernetes API: values with the validators of `kubernetes-models`, which accept unknown
 * keys, and keys with its types, which do not. Stands in for kubeconform, which is not an npm package.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as autoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler'
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap'
import { validate as volumeClaim } from 'kubernetes-models/_schemas/IoK8sApiCoreV1PersistentVolumeClaim'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { validate as ingress } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1Ingress'
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'
import ts from 'typescript'

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string }
}

const VALIDATORS: Readonly<Record<string, (manifest: unknown) => boolean>> = {
  'apps/v1 Deployment': deployment,
  'autoscaling/v2 HorizontalPodAutoscaler': autoscaler,
  'networking.k8s.io/v1 Ingress': ingress,
  'policy/v1 PodDisruptionBudget': disruptionBudget,
  'v1 ConfigMap': configMap,
  'v1 PersistentVolumeClaim': volumeClaim,
  'v1 Service': service,
}

/** @returns a line for each problem */
export function checkManifests(manifests: readonly Manifest[], cache: string): string[] {
  return [...manifests.flatMap(checkValues), ...checkKeys(manifests, cache)]
}

function checkValues(manifest: Manifest): string[] {
  const kind = `${manifest.apiVersion} ${manifest.kind}`
  const validate = VALIDATORS[kind]
  if (validate === undefined) return [`${kind} has no validator`]
  if (validate(manifest)) return []
  return [`${kind}: ${JSON.stringify('errors' in validate ? validate.errors : 'invalid')}`]
}

/** The compiler refuses unknown keys of literals, at any depth. */
function checkKeys(manifests: readonly Manifest[], cache: string): string[] {
  mkdirSync(cache, { recursive: true })
  const file = join(cache, 'manifests.mts')
  const lines = manifests.map(({ apiVersion, kind, ...rest }, at) => {
    const type = `import('kubernetes-models/${apiVersion}').I${kind}`
    return `export const manifest${at}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest })}`
  })
  writeFileSync(file, `${lines.join('\n')}\n`)
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    types: [],
  })
  const problems = ts
    .getPreEmitDiagnostics(program)
    .map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' '))
  rmSync(cache, { recursive: true })
  return problems
}
