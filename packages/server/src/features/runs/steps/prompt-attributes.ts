import type { SpanAttributes } from '../../../shared/tracer.ts'
import type { RunPlan } from './run-plan.ts'

/**
 * Returns the attributes that name a prompt on the spans of its runs, renderings and model calls. OpenTelemetry's
 * `gen_ai.prompt.version` is the published number, or a draft's uuid. It is never `live`, which would name changing texts.
 */
export function promptAttributes({ path, version }: Pick<RunPlan, 'path' | 'version'>): SpanAttributes {
  const { uuid, number, contentHash } = version
  return {
    'gen_ai.prompt.name': path,
    'gen_ai.prompt.version': number === null ? uuid : String(number),
    'stet.prompt.path': path,
    'stet.prompt.content_hash': contentHash,
    'stet.version.uuid': uuid,
  }
}
