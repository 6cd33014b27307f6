import type { Contract, RunEvent } from '@stet/contract'
import type { OperationTypes } from '../src/operations.ts'
import type { LatitudeEventData, ProviderEventData } from '../src/stream/events.ts'
import type { ROUTES } from './support/contract-routes.ts'

type Operation = keyof typeof ROUTES
type RouteOf<K extends Operation> = (typeof ROUTES)[K] extends readonly [infer R extends keyof Contract, infer N]
  ? N extends keyof Contract[R]
    ? Contract[R][N]
    : never
  : never

type Sent<S> = S extends { _zod: { input: infer I } } ? I : never
type Received<S> = S extends { _zod: { output: infer O } } ? O : never
type BodyOf<K extends Operation> =
  RouteOf<K> extends { body: infer S } ? ([Sent<S>] extends [never] ? 'none' : Sent<S>) : 'none'
type QueryOf<K extends Operation> = RouteOf<K> extends { query: infer S } ? Sent<S> : 'none'
type ResultOf<K extends Operation> =
  RouteOf<K> extends { responses: infer S }
    ? Received<S extends { 201: infer Created } ? Created : S extends { 200: infer Found } ? Found : never>
    : never
type Own<K extends Operation, Part extends string> = Part extends keyof OperationTypes[K]
  ? OperationTypes[K][Part]
  : 'none'

// Where the SDK says less or more on purpose: names that a newer server may extend are plain strings, the front matter
// is only sketched, messages are looser than either side writes them, and an object has the shape the caller claims.
type Open = 'provider' | 'errorCode' | 'code' | 'name' | 'source'
type Unsketched =
  | 'config'
  | 'object'
  | 'parameters'
  | 'mcpHeaders'
  | 'details'
  | 'windowSeconds'
  | 'deletedAt'
  | 'providerLogUuid'
type Plain<T> = T extends { role: unknown; content: unknown }
  ? 'message'
  : T extends readonly (infer I)[]
    ? Plain<I>[]
    : T extends object
      ? { [K in keyof T]: K extends Unsketched ? K : K extends Open ? Opened<T[K]> : Plain<Exclude<T[K], undefined>> }
      : T
type Opened<T> = T extends string ? string : T

type Offering<K, Result> = K extends 'prompts.run' ? Extract<Result, { conversation: unknown }> : Result

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : ['the SDK lacks', B]) : ['the contract lacks', A]

/** True for every operation whose body, query and result are assignable to each other. */
type Tie = {
  [K in Operation]: {
    body: Same<Plain<Own<K, 'body'>>, Plain<BodyOf<K>>>
    query: Same<Plain<Own<K, 'query'>>, Plain<QueryOf<K>>>
    result: Same<Plain<Own<K, 'result'>>, Plain<Offering<K, ResultOf<K>>>>
  }
}
type Loosened = { [K in Operation]: { body: true; query: true; result: true } }

type DataOf<E extends RunEvent['event']> = Extract<RunEvent, { event: E }>['data']

declare function holds<T extends Expected, Expected>(): T
holds<Tie, Loosened>()
holds<Same<Plain<LatitudeEventData>, Plain<DataOf<'latitude-event'>>>, true>()
holds<Same<Plain<ProviderEventData>, Plain<DataOf<'provider-event'>>>, true>()
// a body that is missing on one side is not assignable to one that is there
// @ts-expect-error
holds<Same<Plain<Own<'versions.get', 'body'>>, Plain<BodyOf<'versions.create'>>>, true>()
