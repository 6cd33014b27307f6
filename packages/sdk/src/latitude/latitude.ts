import {
  type ApiPromise,
  type AttachOptions,
  type Evaluations,
  type Logs,
  type Project,
  type Runs,
  Stet,
  type StetError,
  type Version,
} from '../index.ts'
import { settled, withOldStatus } from './failures.ts'
import { type LatitudeOptions, stetOptions } from './options.ts'
import { type LatitudePrompts, latitudePrompts } from './prompts.ts'
import { type LatitudeVersions, latitudeVersions } from './versions.ts'

let hasWarned = false

/**
 * A client with the API of `@latitude-data/sdk` 4 and 5. Change the import and keep your code. The `Stet` client in
 * `stet` sends all requests.
 *
 * @example
 * const latitude = new Latitude(process.env.LATITUDE_API_KEY, { projectId: 1 })
 * const result = await latitude.prompts.run('support/reply', { parameters: { ticket }, stream: true })
 */
export class Latitude {
  /** The `Stet` client that sends the requests. */
  readonly stet: Stet
  readonly prompts: LatitudePrompts
  readonly versions: LatitudeVersions
  readonly projects: {
    /** Lists the projects that the API key can access. */
    getAll(): ApiPromise<Project[]>
    /** Creates a project with its first draft. */
    create(name: string): ApiPromise<{ project: Project; version: Version }>
  }
  readonly runs: Pick<Runs, 'attach' | 'stop'>
  readonly evaluations: Pick<Evaluations, 'annotate'>
  readonly logs: Logs

  /**
   * The API key defaults to STET_API_KEY, then LATITUDE_API_KEY. The server address defaults to STET_BASE_URL, then the
   * GATEWAY_ variables.
   */
  constructor(apiKey?: string, options: LatitudeOptions = {}) {
    const stet = new Stet(stetOptions(apiKey, options))
    this.stet = stet
    this.prompts = latitudePrompts(stet)
    this.versions = latitudeVersions(stet)
    this.projects = { getAll: () => stet.projects.list(), create: (name) => stet.projects.create(name) }
    this.runs = {
      attach: ((uuid: string, o: AttachOptions = {}) => {
        const { onError } = o
        const own = onError ? { ...o, onError: (error: StetError) => onError(withOldStatus(error)) } : o
        return settled(stet.runs.attach(uuid, own), {}, o.stream !== false)
      }) as Runs['attach'],
      stop: stet.runs.stop.bind(stet.runs),
    }
    this.evaluations = {
      // The published clients annotate in the version from the constructor's options, which may be a draft.
      annotate: (conversationUuid, score, evaluationUuid, o = {}) =>
        stet.evaluations.annotate(conversationUuid, score, evaluationUuid, {
          ...(options.versionUuid !== undefined && { versionUuid: options.versionUuid }),
          ...o,
        }),
    }
    this.logs = stet.logs
  }

  /**
   * Does nothing except warn once. For metrics and traces, use `hooks`.
   *
   * @example
   * Latitude.instrument(telemetry) // instead: new Latitude(key, { hooks: { onResponse: ({ operation, durationMs }) => record(operation, durationMs) } })
   */
  static instrument(_instrumentation: unknown): void {
    if (hasWarned) return
    hasWarned = true
    console.warn('[stet] Latitude.instrument() has no effect here; pass hooks to the client')
  }

  /**
   * Does nothing.
   *
   * @example Latitude.uninstrument()
   */
  static uninstrument(): void {}
}
