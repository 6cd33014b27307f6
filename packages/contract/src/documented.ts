import type { z } from 'zod'

const documented = new WeakMap<object, z.ZodType>()

/**
 * Documents a schema that accepts more than its shape shows. `accepts` is the input in types and in the OpenAPI
 * document.
 *
 * @example
 * const Input = documentedAs(z.preprocess(tidy, Strict), z.union([z.string(), Strict]))
 */
export function documentedAs<S extends z.ZodType, D extends z.ZodType>(
  schema: S,
  accepts: D,
): z.ZodType<z.output<S>, z.input<D>> {
  documented.set(schema, accepts)
  return schema as unknown as z.ZodType<z.output<S>, z.input<D>>
}

export function documentedSchema(schema: object): z.ZodType | undefined {
  return documented.get(schema)
}
