#include "requests.h"

struct request_row *request_table[TABLE_ROWS];
