import type {
  ChangedExamples,
  ChangeExamplesBody,
  CreateExampleBody,
  DeletedExample,
  ExampleSummary,
  ListExamplesQuery,
  SavedRuns,
  SaveRunsBody,
  UpdateExampleBody,
} from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { InProject } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { Example } from '../types.ts'

/**
 * Examples are saved inputs of a prompt, each under a name.
 *
 * @example
 * const { uuid: documentUuid } = await stet.prompts.get('support/reply')
 * const examples = await stet.examples.list(documentUuid)
 * await stet.prompts.run('support/reply', { parameters: examples[0]?.parameters })
 */
export class Examples {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Lists the examples of a prompt by position. With `summary: true`, they come without their values, of which a prompt
   * may have 16 MB.
   *
   * @example
   * const names = (await stet.examples.list(documentUuid)).map(({ name }) => name)
   * const untested = (await stet.examples.list(documentUuid, { summary: true })).filter((row) => !row.hasExpected)
   */
  list(documentUuid: ListExamplesQuery['documentUuid'], o: InProject & { summary: true }): ApiPromise<ExampleSummary[]>
  list(documentUuid: ListExamplesQuery['documentUuid'], o?: InProject & { summary?: false }): ApiPromise<Example[]>
  list(
    documentUuid: ListExamplesQuery['documentUuid'],
    o: InProject & { summary?: boolean } = {},
  ): ApiPromise<unknown> {
    return this.#api.call('examples.list', { documentUuid }, o)
  }

  /**
   * Saves inputs of a prompt. Rejects with ConflictError if the name is taken, or if the prompt has 1,000 examples.
   *
   * @example
   * await stet.examples.create({ documentUuid, name: 'Late order', parameters: { ticket: 'Where is it?' } })
   */
  create(i: CreateExampleBody, o: InProject = {}): ApiPromise<Example> {
    return this.#api.call('examples.create', i, o)
  }

  /**
   * Adds, changes and deletes up to 200 examples in one transaction. The name is the key, so repeating the call changes
   * nothing. Fields that a change leaves out stay as they are.
   *
   * @example
   * const changes = [{ name: 'Late order', parameters: { ticket: 'Where is it?' }, expected: 'On its way.' }]
   * const { added, modified, unchanged } = await stet.examples.batch({ documentUuid, changes })
   */
  batch(i: ChangeExamplesBody, o: InProject = {}): ApiPromise<ChangedExamples> {
    return this.#api.call('examples.batch', i, o)
  }

  /**
   * Saves up to 100 runs as examples of their prompts, with parameters, messages and results of client tools. The answer
   * becomes the expected one with `expected: 'answer'`. `skipped` says which runs could not be saved, and why.
   *
   * @example const { added, skipped } = await stet.examples.fromRuns({ runs: [uuid], expected: 'answer' })
   */
  fromRuns(i: SaveRunsBody, o: InProject = {}): ApiPromise<SavedRuns> {
    return this.#api.call('examples.fromRuns', i, o)
  }

  /**
   * Changes only the given fields of an example. Rejects with ConflictError if the name is taken.
   *
   * @example await stet.examples.update(example.uuid, { parameters: { ticket: 'It never arrived' } })
   */
  update(exampleUuid: string, i: UpdateExampleBody, o: InProject = {}): ApiPromise<Example> {
    return this.#api.call('examples.update', { ...i, exampleUuid }, o)
  }

  /**
   * Deletes an example.
   *
   * @example await stet.examples.delete(example.uuid)
   */
  delete(exampleUuid: string, o: InProject = {}): ApiPromise<DeletedExample> {
    return this.#api.call('examples.delete', { exampleUuid }, o)
  }
}
