/** Reads a run's configuration. The rules are those of the language, which checks apply to front matter too. */
import { type ConfigFault, type PromptConfig, readConfig } from '@stet/template/config'
import { RunError } from '../../shared/app-error.ts'

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
