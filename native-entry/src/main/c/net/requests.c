#include "requests.h"

struct request_row *_Atomic request_table[TABLE_ROWS];
