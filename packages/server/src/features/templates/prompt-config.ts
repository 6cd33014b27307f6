/** Reads a run's configuration by the rules of the language, and renders a prompt's first step. */

import type { Message } from '@stet/contract/vocabulary'
import { type ConfigFault, type PromptConfig, readConfig } from '@stet/template/config'
import { RunError } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { parameterValues } from './parameters.ts'
import type { EvaluationOwner, TemplateScan, TemplateSource } from './template-engine.ts'

/**
 * @param supplied names of the operator's tools
 * @throws RunError `document_config_error` with `key` and `path`, or `unsupported_feature_error` with `feature`.
 */
export function readPromptConfig(
  config: Readonly<Record<string, unknown>>,
  path: string,
  supplied: readonly string[] = [],
): PromptConfig {
  const refuse = (fault: ConfigFault): never => {
    throw refusalOf(fault, path)
  }
  return readConfig(config, refuse, supplied)
}

function refusalOf({ key, message, feature }: ConfigFault, path: string): RunError {
  if (feature === undefined) return configError(path, key, message)
  return new RunError('unsupported_feature_error', message, { details: { feature } })
}

export function configError(path: string, key: string, message: string): RunError {
  return new RunError('document_config_error', `${path}: ${message}`, { details: { key, path } })
}

/**
 * @throws AppError UnprocessableEntityError for the parameters; ServiceUnavailableError; RunError `chain_compile_error`
 * if rendering fails.
 */
export async function renderPrompt(
  deps: Needs<'templates' | 'clock'>,
  { source, scan }: { source: TemplateSource; scan: Pick<TemplateScan, 'config'> },
  given: Readonly<Record<string, unknown>>,
  owner: EvaluationOwner,
): Promise<Message[]> {
  const parameters = parameterValues(scan.config, given)
  const now = deps.clock.now().toISOString()
  const step = await deps.templates.step({ source, parameters, now }, owner)
  return step.done ? step.added : step.input
}
