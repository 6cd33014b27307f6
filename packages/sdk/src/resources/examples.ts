import type { CreateExampleBody, DeletedExample, ListExamplesQuery, UpdateExampleBody } from '@stet/contract/vocabulary'
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
   * Lists the examples of a prompt in the order in which they were created.
   *
   * @example const names = (await stet.examples.list(documentUuid)).map(({ name }) => name)
   */
  list(documentUuid: ListExamplesQuery['documentUuid'], o: InProject = {}): ApiPromise<Example[]> {
    return this.#api.call('examples.list', { documentUuid }, o)
  }

  /**
   * Saves inputs of a prompt. Rejects with ConflictError if the name is taken, or if the prompt has 200 examples.
   *
   * @example
   * await stet.examples.create({ documentUuid, name: 'Late order', parameters: { ticket: 'Where is it?' } })
   */
  create(i: CreateExampleBody, o: InProject = {}): ApiPromise<Example> {
    return this.#api.call('examples.create', i, o)
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
