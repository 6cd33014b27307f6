import { linesWhere } from './operation-table.ts'

/** The rest of the table. The build replaces this module too. */
export const laterTable: string = linesWhere(false)
