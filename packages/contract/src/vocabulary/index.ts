export * from './error-causes.ts'
export * from './error-codes.ts'
export * from './limits.ts'
export * from './wire-types.ts'
