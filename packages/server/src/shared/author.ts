/** The author of a key. Everything a request creates is attributed to its key's author. */
export interface Author {
  id: number
  name: string
  email: string
}
