/** Without Redis one server answers for a database at a time. Whether it is this one is asked before everything of the API. */
import { AppError } from '../../shared/app-error.ts'

export interface Place {
  /** Whether no other server can answer at this moment. Costs nothing. */
  isConfirmed(): boolean
  /** The same; asks the database where it last did so too long ago. */
  confirm(): Promise<boolean>
}

/** @throws AppError ServiceUnavailableError, before everything that begins work or reads a cache. */
export async function requirePlace(place: Place): Promise<void> {
  if (place.isConfirmed() || (await place.confirm())) return
  throw new AppError('ServiceUnavailableError', 'The database is not available to this server, try again later')
}
