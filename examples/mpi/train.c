/* Train a classifier on rows that the ranks of an MPI program share.
 *
 *   mpicc -I../../include -I../c train.c -o train -L... -lfewlabel -lm && mpirun -n 3 ./train
 *
 * Every rank has some of the rows, the last one none if there are three or more. All get the same model, and compare it
 * with that of all rows on one machine.
 */
#include <mpi.h>

#include "example.h"

enum { N_DOCUMENTS = 600, N_CLASSES = 3, N_LABELED = 5 };

static const char options[] = "{\"class_prior\": \"labels\", \"alpha\": 1e-3}";

/* The one thing that the library asks of MPI. */
static int32_t add(void *context, double *values, int64_t n) {
  MPI_Comm *ranks = (MPI_Comm *)context;
  return MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_DOUBLE, MPI_SUM, *ranks) == MPI_SUCCESS ? 0 : 1;
}

/* The rows of a rank, by turns. */
static void share(const dataset *all, dataset *own, int rank, int size) {
  int64_t i, k, n_rows = 0, n_values = 0, turns = size > 2 ? size - 1 : size;
  for (i = rank; rank < turns && i < all->rows.n_rows; i += turns) {
    n_rows++;
    n_values += all->indptr[i + 1] - all->indptr[i];
  }
  new_dataset(own, n_rows, all->rows.n_features, n_values);
  for (i = rank, k = 0; k < n_rows; i += turns, k++) {
    int64_t from = all->indptr[i], length = all->indptr[i + 1] - from, to = own->indptr[k];
    memcpy(own->indices + to, all->indices + from, (size_t)length * sizeof *own->indices);
    memcpy(own->values + to, all->values + from, (size_t)length * sizeof *own->values);
    own->labels[k] = all->labels[i];
    own->indptr[k + 1] = to + length;
  }
}

/* The weights of a fit. */
static double *fit(const dataset *d, const fewlabel_group *group) {
  double *coef = NEW(double, d->rows.n_features *N_CLASSES);
  const fewlabel_labels labels = FEWLABEL_LABELS(d->labels);
  int64_t model;
  need(fewlabel_fit(&d->rows, &labels, NULL, 0, options, NULL, group, &model, error, sizeof error), "fitting");
  need(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef, d->rows.n_features * N_CLASSES, error, sizeof error),
       "weights");
  need(fewlabel_free(model, error, sizeof error), "freeing the model");
  return coef;
}

int main(int argc, char **argv) {
  dataset all, own;
  MPI_Comm ranks = MPI_COMM_WORLD;
  fewlabel_group group = {0, 1, add, &ranks};
  double *together, *alone, apart = 0;
  int rank, size;
  int64_t k;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &size);
  group.rank = rank;
  group.size = size;
  make_documents(&all, N_DOCUMENTS, N_CLASSES, N_CLASSES, N_LABELED * N_CLASSES);
  share(&all, &own, rank, size);
  together = fit(&own, &group);
  alone = fit(&all, NULL);
  for (k = 0; k < all.rows.n_features * N_CLASSES; k++) apart = fmax(apart, fabs(together[k] - alone[k]));
  printf("rank %d of %d: %d rows, weights at most %.0e from those of one machine\n", rank, size, (int)own.rows.n_rows,
         apart);
  ensure(apart < 1e-6, "another model than that of one machine");
  free(together);
  free(alone);
  free_dataset(&own);
  free_dataset(&all);
  MPI_Finalize();
  return 0;
}
