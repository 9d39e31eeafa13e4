/** The face of the control socket: the actor, and what its client on the command line shares with it. */
export { type ControlOptions, controlActor } from './control-actor.ts';
export { MAX_BODY_BYTES } from './control-server.ts';
export type {
  DeadLetterDocument,
  ErrorDocument,
  RunDocument,
  StatusDocument,
  TaskDocument,
} from './documents.ts';
export { errorDocument } from './documents.ts';
export { MAX_LIMIT } from './requests.ts';
export { type SizeDocument, sizeDocument } from './size-document.ts';
export { withSocketAddress } from './socket-file.ts';
