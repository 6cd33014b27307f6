type OptionalKey<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]

type Defined<T> = Omit<T, OptionalKey<T>> & { [K in OptionalKey<T>]?: Exclude<T[K], undefined> }

/**
 * Drops the keys whose values are undefined: an optional property is absent or has a value.
 * @example defined({ name, url: undefined }) // { name }
 */
export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
