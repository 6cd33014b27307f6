/**
 * Checks manifests against the Kubernetes API: values with the validators of `kubernetes-models`, which accept unknown
 * keys, and keys with its types, which do not. Stands in for kubeconform, which is not an npm package.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, PersistentVolumeClaim, Service } from 'kubernetes-models/v1'
import ts from 'typescript'

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string }
}

const MODELS = { ConfigMap, Deployment, HorizontalPodAutoscaler, PersistentVolumeClaim, PodDisruptionBudget, Service }

/** @returns a line for each problem */
export function checkManifests(manifests: readonly Manifest[], cache: string): string[] {
  return [...manifests.flatMap(checkValues), ...checkKeys(manifests, cache)]
}

function checkValues(manifest: Manifest): string[] {
  const Model = Object.entries(MODELS).find(([kind]) => kind === manifest.kind)?.[1]
  if (Model === undefined) return [`${manifest.kind} has no model`]
  if (Model.apiVersion !== manifest.apiVersion) return [`${manifest.kind} is of ${manifest.apiVersion}`]
  try {
    new Model(manifest).validate()
    return []
  } catch (error) {
    return [`${manifest.kind}: ${error instanceof Error ? error.message : error}`]
  }
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
