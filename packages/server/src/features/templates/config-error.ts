/** The failure of a prompt whose configuration cannot be used: names the key and the document. */
import { RunError } from '../../shared/app-error.ts'

export function configError(path: string, key: string, message: string): RunError {
  return new RunError('document_config_error', `${path}: ${message}`, { details: { key, path } })
}
