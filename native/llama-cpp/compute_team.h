/* The threads that ggml's CPU backends compute with: what an OpenMP runtime gives them, in place of one.
 *
 * A thread that waits for the others polls for a while, which is quickest where each thread has a core, and then sleeps, which is
 * many times quicker where it has not: a thread that polls keeps its core from the one that it waits for. How long it polls
 * follows from how long the team's threads stood in the system's run queues lately. That is measured whatever they do while they
 * wait, so no choice hides what would change it. */
#ifndef SVC_COMPUTE_TEAM_H
#define SVC_COMPUTE_TEAM_H

#ifdef __cplusplus
extern "C" {
#endif

struct svc_compute_team_state {
    unsigned n_threads;  /* with the calling one */
    double poll_us;      /* how long a thread polls before it sleeps */
    double queued_share; /* of the time, for which the threads stood in run queues */
};

/* Of the team that the calling thread leads: one thread and zeros where it never computed with several. */
__attribute__((visibility("default"))) struct svc_compute_team_state svc_compute_team_state_of_caller(void);

#ifdef __cplusplus
}
#endif

#endif
